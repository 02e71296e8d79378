package guest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// The bzImage header (Documentation/arch/x86/boot.rst), little-endian.
const (
	setupSectsOffset    = 0x1f1 // byte: 512-byte sectors before the kernel, less one
	magicOffset         = 0x202 // "HdrS"
	payloadOffsetOffset = 0x248 // bytes from the start of the kernel
	payloadLengthOffset = 0x24c // bytes
	headerEnd           = 0x250
)

// payload returns the compressed kernel in a bzImage.
func payload(image []byte) ([]byte, error) {
	if len(image) < headerEnd || string(image[magicOffset:magicOffset+4]) != "HdrS" {
		return nil, errors.New("no bzImage")
	}
	start := (int(image[setupSectsOffset])+1)*512 + int(binary.LittleEndian.Uint32(image[payloadOffsetOffset:]))
	end := start + int(binary.LittleEndian.Uint32(image[payloadLengthOffset:]))
	if start > end || end > len(image) {
		return nil, fmt.Errorf("bzImage of %d bytes has its payload at %d to %d", len(image), start, end)
	}
	return image[start:end], nil
}

// compressions are the formats that Debian's kernels use, with the programs that undo
// them. The kernel build appends the uncompressed size if the format does not contain it.
// The programs would reject it.
var compressions = []struct {
	magic   string
	trailer int // bytes
	command []string
}{
	{"\xfd7zXZ\x00", 0, []string{"xz", "-dc", "--single-stream"}}, // Debian 12
	{"\x28\xb5\x2f\xfd", 4, []string{"zstd", "-dcq"}},             // Debian 13
}

// unpackKernel writes the kernel that is compressed in an image. The machine would unpack
// it by itself at each boot, which takes most of the time to the first program when its
// processor is emulated.
func unpackKernel(ctx context.Context, from, to string) error {
	image, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	body, err := payload(image)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", from, err)
	}
	for _, c := range compressions {
		if bytes.HasPrefix(body, []byte(c.magic)) {
			return decompress(ctx, c.command, body[:len(body)-c.trailer], to)
		}
	}
	return fmt.Errorf("unpack %s: unknown compression: %x", from, body[:min(8, len(body))])
}

func decompress(ctx context.Context, command []string, body []byte, to string) error {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout = bytes.NewReader(body), out
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := errors.Join(cmd.Run(), out.Close()); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, &stderr)
	}
	return nil
}
