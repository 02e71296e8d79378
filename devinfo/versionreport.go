package devinfo

// VersionSchema identifies the JSON form of a [VersionReport]; schema/version.json
// describes it.
const VersionSchema = "ibkit/version/1"

// A VersionReport is the document that "ibkit version --json" prints.
type VersionReport struct {
	Schema   string            `json:"schema"`
	Version  string            `json:"version"`
	Commit   *string           `json:"commit"` // null: unknown
	Go       string            `json:"go"`
	Platform string            `json:"platform"` // "linux/amd64"
	Kernel   string            `json:"kernel"`
	Devices  []FirmwareVersion `json:"devices"`
}

// A FirmwareVersion is the version of the firmware of a device.
type FirmwareVersion struct {
	Name     string  `json:"name"`
	Firmware *string `json:"firmware"` // null: unknown
}
