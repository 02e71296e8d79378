package guest

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest/internal/cpio"
)

// image is a guest's only file system.
type image struct {
	files map[string]imageFile // by absolute path
}

type imageFile struct {
	mode uint32 // kind and permissions
	body []byte // or link target
}

// userID is the user and group number that [User] names.
const userID = 1000

// newImage returns an image without files.
func newImage() *image { return &image{files: map[string]imageFile{}} }

// baseImage returns an image with Debian's directories, busybox, the agent, and modules
// that the agent loads.
func baseImage(ctx context.Context, k *Kernel, root string, modules []string) (*image, error) {
	im := newImage()
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		im.link("/"+dir, "usr/"+dir)
		im.dir("/usr/" + dir)
	}
	for _, dir := range []string{"/dev", "/proc", "/sys", "/run", "/root", "/tmp", "/var/tmp", "/var/lib", "/home/user"} {
		im.dir(dir)
	}
	for name, body := range map[string]string{
		"passwd": fmt.Sprintf("root:x:0:0:root:/root:/bin/sh\nuser:x:%[1]d:%[1]d:user:/home/user:/bin/sh\n", userID),
		"group":  fmt.Sprintf("root:x:0:\nuser:x:%d:\n", userID),
		"hosts":  "127.0.0.1 localhost\n",
		// By default, the module dummy creates a device when it is loaded.
		"modprobe.d/guest.conf": "options dummy numdummies=0\n",
	} {
		im.add("/etc/"+name, 0o644, []byte(body))
	}
	if err := im.addBusybox(ctx, root); err != nil {
		return nil, err
	}
	agent, err := buildProgram(ctx, Program{Package: module + "/test/guest/internal/agent"})
	if err != nil {
		return nil, err
	}
	im.add("/init", 0o755, agent)
	im.add("/etc/modules", 0o644, []byte(strings.Join(modules, "\n")))
	return im, im.addModules(ctx, k, append(modules, "virtio_blk"))
}

// addBusybox adds busybox and a link for each busybox program. They are last in the PATH,
// so that Debian programs take precedence. The shell is dash because the busybox shell
// prefers its built-in programs; it comes from the root directory with the libraries.
func (im *image) addBusybox(ctx context.Context, root string) error {
	if err := (programs{im, "/"}).addPrograms([]string{"busybox"}); err != nil {
		return err
	}
	if err := (programs{im, root}).addPrograms([]string{"dash"}); err != nil {
		return err
	}
	list, err := debian.Output(ctx, "busybox", "--list")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(list) {
		im.link("/usr/lib/busybox/"+name, "/usr/bin/busybox")
	}
	im.link("/usr/bin/sh", "dash")
	im.link("/usr/sbin/modprobe", "../bin/busybox") // the kernel requests modules with it
	return nil
}

// add adds a file and its parent directories.
func (im *image) add(name string, permissions uint32, body []byte) {
	im.put(name, imageFile{cpio.File | permissions, body})
}

// addFiles adds a file from this machine, or a directory with its contents, and keeps
// the permissions.
func (im *image) addFiles(name, from string) error {
	return filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		im.add(path.Join(name, strings.TrimPrefix(file, from)), uint32(info.Mode().Perm()), body)
		return nil
	})
}

func (im *image) dir(name string) {
	permissions := uint32(0o755)
	if strings.HasSuffix(name, "tmp") {
		permissions = 0o1777
	}
	im.put(name, imageFile{mode: cpio.Dir | permissions})
}

func (im *image) link(name, target string) {
	im.put(name, imageFile{cpio.Link | 0o777, []byte(target)})
}

func (im *image) put(name string, f imageFile) {
	name = merged(name)
	if parent := path.Dir(name); parent != "/" && !im.has(parent) {
		im.dir(parent)
	}
	im.files[name] = f
}

func (im *image) has(name string) bool {
	_, ok := im.files[merged(name)]
	return ok
}

// merged returns a file path on a system with merged /usr, as Debian has: below a
// directory, not below a link to it.
func merged(name string) string {
	name = path.Clean(name)
	for _, dir := range []string{"/bin/", "/sbin/", "/lib/", "/lib64/"} {
		if strings.HasPrefix(name, dir) {
			return "/usr" + name
		}
	}
	return name
}

// initrd writes the image as a kernel's first file system.
func (im *image) initrd() (*os.File, error) {
	f, err := unnamedFile()
	if err != nil {
		return nil, err
	}
	w := cpio.NewWriter(f)
	for _, name := range slices.Sorted(maps.Keys(im.files)) {
		w.Add(strings.TrimPrefix(name, "/"), im.files[name].mode, im.files[name].body)
	}
	if err := w.Close(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// disk writes the image as archive that the agent unpacks.
func (im *image) disk() (*os.File, error) {
	f, err := unnamedFile()
	if err != nil {
		return nil, err
	}
	if err := im.writeArchive(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (im *image) writeArchive(to io.Writer) error {
	buffer := bufio.NewWriterSize(to, 1<<20)
	w := tar.NewWriter(buffer)
	for _, name := range slices.Sorted(maps.Keys(im.files)) {
		f := im.files[name]
		header := &tar.Header{Name: name, Mode: int64(f.mode & 0o7777)}
		switch f.mode &^ 0o7777 {
		case cpio.Dir:
			header.Typeflag = tar.TypeDir
		case cpio.Link:
			header.Typeflag, header.Linkname = tar.TypeSymlink, string(f.body)
		default:
			header.Typeflag, header.Size = tar.TypeReg, int64(len(f.body))
		}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if _, err := w.Write(f.body); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), buffer.Flush())
}

// unnamedFile returns a file that needs no clean-up.
func unnamedFile() (*os.File, error) {
	f, err := os.CreateTemp("", "guest-image-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
