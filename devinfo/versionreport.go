package devinfo

import "github.com/ibkit/ibkit/report"

// VersionSchema identifies the JSON form of a [ReportVersion]; schema/version.json
// describes it.
const VersionSchema = "ibkit/version/2"

// A ReportVersion is the document that "ibkit version --json" prints.
type ReportVersion struct {
	report.Head
	Version  string           `json:"version"`
	Commit   *string          `json:"commit"` // null: unknown
	Go       string           `json:"go"`
	Platform string           `json:"platform"` // "linux/amd64"
	Kernel   string           `json:"kernel"`
	Devices  []ReportFirmware `json:"devices"`
}

// A ReportFirmware is the version of the firmware of a device.
type ReportFirmware struct {
	Name     string  `json:"name"`
	Firmware *string `json:"firmware"` // null: unknown
}
