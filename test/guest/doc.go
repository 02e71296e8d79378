// Package guest boots a Debian kernel with Soft-RoCE in QEMU and runs programs
// there: ibkit, its tests, Debian's tools. It needs no right of its own, no
// RDMA hardware and no KVM.
//
// A test says what it needs and gets a guest that has it, or fails:
//
//	g := guest.New(t, guest.Spec{
//		Devices:  []guest.Device{{Name: "rxe0"}},
//		Tools:    []string{"ibv_devinfo", "strace"},
//		Programs: []guest.Program{guest.Ibkit},
//	})
//	want := g.Must(t, "ibv_devinfo", "-v")
//	got := g.Must(t, "ibkit", "ibv_devinfo", "-v")
//
// [NewPair] boots two that are joined by a wire. [RunTests] runs a package's
// tests, those with the build tag inguest included, in a guest. A guest ends
// with its test, after [Spec].Timeout, with the context it was booted with and
// with the process that booted it. A panic or an oops of its kernel ends it too,
// and is an error ([PanicError]).
//
// Tests that boot guests have the build tag guest and are run by make guest.
// For a shell in a guest:
//
//	make guest-shell
//
// # How it works
//
// The kernel is the one that the package linux-image-amd64 depends on. It is
// downloaded by apt and unpacked once, into ibkit/guest below the user's cache
// folder, some 400 MB. The tools are those installed on this machine. A first
// file system holds modules, tools with their libraries, busybox, Go programs
// and an agent, which starts what it is told to over a virtio-serial port. The
// machine's processor is always emulated: a /dev/kvm that is there does not
// always work, and what a test finds should not depend on it.
//
// # Why not an existing runner
//
// By their documentation: github.com/hugelgupf/vmtest starts QEMU, with a kernel
// that one has or that comes in a container image, and builds images of u-root's
// programs. It would bring u-root in, while the modules of Debian's kernel, C
// tools with their libraries, devices and running many commands in one guest
// would still be ours. lmb.io/vimto wants a kernel with 9p, overlayfs and virtio
// built in, where Debian has modules, and has no network.
package guest
