// Package guest boots a Debian kernel with Soft-RoCE in QEMU and runs programs in it:
// ibkit, its tests, Debian's tools. It needs no privileges, no RDMA hardware and no KVM.
//
// A test lists its requirements and gets a guest that meets them, or fails:
//
//	g := guest.New(t, guest.Spec{
//		Devices:  []guest.Device{{Name: "rxe0"}},
//		Tools:    []string{"ibv_devinfo", "strace"},
//		Programs: []guest.Program{guest.Ibkit},
//	})
//	want := g.Must(t, "ibv_devinfo", "-v")
//	got := g.Must(t, "ibkit", "ibv_devinfo", "-v")
//
// [NewPair] boots two guests that are joined by a wire, [NewSwitched] several that are joined
// by a [Switch], or by several with trunks, with limited rates and losses in each direction. [RunTests] runs a package's tests
// in a guest, including tests with the build tag inguest. A guest ends with its test,
// after [Spec].Timeout, with its context, and with the process that booted it. A kernel
// panic or oops ends it with a [PanicError], a test step without progress with a
// [HangError]. A command ends with the test or subtest that has started it.
//
// Long matrices have one case of each kind, with ALL_CASES=1 all cases.
//
// Tests that boot guests have the build tag guest; make guest runs them. To open a
// shell in a guest:
//
//	make guest-shell
//
// # How it works
//
// The package linux-image-amd64 depends on the kernel, of this machine's Debian release or of
// another, see package debian. apt downloads it once, and it is unpacked into ibkit/guest in
// the user's cache directory, 200 to 400 MB. The initial file
// system has busybox and an agent, which loads the modules that all guests have and waits
// for the runner. The machine is saved then, about 100 MB in the same directory, and each
// guest goes on from the saved state: that takes a second, a boot four. The agent sets the
// clock, seeds the random numbers, and unpacks modules, Go programs and the release's tools
// with their libraries from a disk. Then it starts commands that it receives over a
// virtio-serial port. While a step waits, the runner queries the agent for the processes
// in the guest and their processor time, to distinguish a busy command from a command that
// hangs. The processor is always emulated: /dev/kvm does not work on all machines that
// have it, and results must not depend on it.
//
// # Why not an existing runner
//
// According to their documentation, github.com/hugelgupf/vmtest starts QEMU with a user's
// kernel or a kernel from a container image, and builds images with u-root programs. It
// adds u-root as a dependency, but does not provide the modules for Debian's kernel, C
// tools with their libraries, devices, or many commands in a single guest. lmb.io/vimto
// needs a kernel with 9p, overlayfs and virtio built in, which are modules in Debian, and
// has no network.
package guest
