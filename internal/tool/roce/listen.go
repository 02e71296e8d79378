package roce

import (
	"context"
	"sync"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/lldp"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// Listen waits for the LLDP peers of all RoCE ports until ctx ends or all have sent. It returns
// the peers by network device, and the reasons why it could not listen.
func (h Host) Listen(ctx context.Context, devices []*devinfo.Device) (map[string]*lldp.Neighbour, []error) {
	var problems []error
	h = h.withDefaults()
	root := sysfs.FS(h.Sysfs).Dir(&problems)
	netdevs := map[string]bool{}
	for _, d := range devices {
		for _, p := range d.Ports {
			if IsRoCE(d, p) && p.Netdev != nil {
				for _, name := range lowest(root, *p.Netdev, nil) {
					netdevs[name] = true
				}
			}
		}
	}
	all := map[string]*lldp.Neighbour{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for name := range netdevs {
		wait.Go(func() {
			n, err := lldp.Listen(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				problems = append(problems, err)
			} else if n != nil {
				all[name] = n
			}
		})
	}
	wait.Wait()
	return all, problems
}
