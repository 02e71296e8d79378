package cmd

import (
	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/addr"
	"github.com/ibkit/ibkit/cmd/cc"
	"github.com/ibkit/ibkit/cmd/check"
	"github.com/ibkit/ibkit/cmd/classic/checklftbalance"
	"github.com/ibkit/ibkit/cmd/classic/cmtime"
	"github.com/ibkit/ibkit/cmd/classic/dumpfts"
	"github.com/ibkit/ibkit/cmd/classic/ibaddr"
	"github.com/ibkit/ibkit/cmd/classic/ibcacheedit"
	"github.com/ibkit/ibkit/cmd/classic/ibccconfig"
	"github.com/ibkit/ibkit/cmd/classic/ibccquery"
	"github.com/ibkit/ibkit/cmd/classic/ibcheck"
	"github.com/ibkit/ibkit/cmd/classic/ibfindnodesusing"
	"github.com/ibkit/ibkit/cmd/classic/ibidsverify"
	"github.com/ibkit/ibkit/cmd/classic/iblinkinfo"
	"github.com/ibkit/ibkit/cmd/classic/ibnetdiscover"
	"github.com/ibkit/ibkit/cmd/classic/ibnodes"
	"github.com/ibkit/ibkit/cmd/classic/ibping"
	"github.com/ibkit/ibkit/cmd/classic/ibportstate"
	"github.com/ibkit/ibkit/cmd/classic/ibqueryerrors"
	"github.com/ibkit/ibkit/cmd/classic/ibroute"
	"github.com/ibkit/ibkit/cmd/classic/ibsendtrap"
	"github.com/ibkit/ibkit/cmd/classic/ibstat"
	"github.com/ibkit/ibkit/cmd/classic/ibstatus"
	"github.com/ibkit/ibkit/cmd/classic/ibswportwatch"
	"github.com/ibkit/ibkit/cmd/classic/ibsysstat"
	"github.com/ibkit/ibkit/cmd/classic/ibtracert"
	"github.com/ibkit/ibkit/cmd/classic/ibvasyncwatch"
	"github.com/ibkit/ibkit/cmd/classic/ibvdevices"
	"github.com/ibkit/ibkit/cmd/classic/ibvdevinfo"
	"github.com/ibkit/ibkit/cmd/classic/ibvpingpong"
	"github.com/ibkit/ibkit/cmd/classic/mckey"
	"github.com/ibkit/ibkit/cmd/classic/mcmreregtest"
	"github.com/ibkit/ibkit/cmd/classic/perfquery"
	"github.com/ibkit/ibkit/cmd/classic/perftest"
	"github.com/ibkit/ibkit/cmd/classic/rdmaexample"
	"github.com/ibkit/ibkit/cmd/classic/rdmaxexample"
	"github.com/ibkit/ibkit/cmd/classic/rping"
	"github.com/ibkit/ibkit/cmd/classic/saquery"
	"github.com/ibkit/ibkit/cmd/classic/sminfo"
	"github.com/ibkit/ibkit/cmd/classic/smpdump"
	"github.com/ibkit/ibkit/cmd/classic/smpquery"
	"github.com/ibkit/ibkit/cmd/classic/ucmatose"
	"github.com/ibkit/ibkit/cmd/classic/udaddy"
	"github.com/ibkit/ibkit/cmd/classic/udpong"
	"github.com/ibkit/ibkit/cmd/classic/vendstat"
	"github.com/ibkit/ibkit/cmd/cm"
	"github.com/ibkit/ibkit/cmd/completion"
	"github.com/ibkit/ibkit/cmd/counters"
	"github.com/ibkit/ibkit/cmd/devinfo"
	"github.com/ibkit/ibkit/cmd/doctor"
	"github.com/ibkit/ibkit/cmd/exporter"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/link"
	"github.com/ibkit/ibkit/cmd/linkinfo"
	"github.com/ibkit/ibkit/cmd/mesh"
	"github.com/ibkit/ibkit/cmd/perf"
	"github.com/ibkit/ibkit/cmd/phy"
	"github.com/ibkit/ibkit/cmd/ping"
	"github.com/ibkit/ibkit/cmd/port"
	"github.com/ibkit/ibkit/cmd/query"
	"github.com/ibkit/ibkit/cmd/route"
	"github.com/ibkit/ibkit/cmd/routes"
	"github.com/ibkit/ibkit/cmd/sa"
	"github.com/ibkit/ibkit/cmd/sim"
	"github.com/ibkit/ibkit/cmd/sm"
	"github.com/ibkit/ibkit/cmd/top"
	"github.com/ibkit/ibkit/cmd/topology"
	"github.com/ibkit/ibkit/cmd/trap"
	"github.com/ibkit/ibkit/cmd/version"
	"github.com/ibkit/ibkit/cmd/watch"
)

// An entry of the registry makes one command. Exactly one of command and tool is
// set.
type entry struct {
	command func(*cmdutil.Env) *cobra.Command
	tool    func(*cmdutil.Env) *getopt.Tool

	native string // the native command with the same task, for a classic name
}

// registry has all commands by name, the native and the classic ones.
var registry = map[string]entry{
	"addr":       {command: addr.New},
	"cc":         {command: cc.New},
	"check":      {command: check.New},
	"cm":         {command: cm.New},
	"completion": {command: completion.New},
	"counters":   {command: counters.New},
	"devinfo":    {command: devinfo.New},
	"doctor":     {command: doctor.New},
	"exporter":   {command: exporter.New},
	"link":       {command: link.New},
	"linkinfo":   {command: linkinfo.New},
	"mesh":       {command: mesh.New},
	"perf":       {command: perf.New},
	"phy":        {command: phy.New},
	"ping":       {command: ping.New},
	"port":       {command: port.New},
	"query":      {command: query.New},
	"sa":         {command: sa.New},
	"route":      {command: route.New},
	"routes":     {command: routes.New},
	"sim":        {command: sim.New},
	"sm":         {command: sm.New},
	"top":        {command: top.New},
	"topology":   {command: topology.New},
	"trap":       {command: trap.New},
	"version":    {command: version.New},
	"watch":      {command: watch.New},

	"ibaddr":        {tool: ibaddr.New, native: "addr"},
	"iblinkinfo":    {tool: iblinkinfo.New, native: "linkinfo"},
	"ibcacheedit":   {tool: ibcacheedit.New, native: "topology"},
	"ibhosts":       {tool: ibnodes.New("ibhosts"), native: "topology"},
	"ibidsverify":   {tool: ibidsverify.New, native: "topology"},
	"ibnetdiscover": {tool: ibnetdiscover.New, native: "topology"},
	"ibnodes":       {tool: ibnodes.New("ibnodes"), native: "topology"},
	"ibrouters":     {tool: ibnodes.New("ibrouters"), native: "topology"},
	"ibswitches":    {tool: ibnodes.New("ibswitches"), native: "topology"},
	"ibping":        {tool: ibping.New, native: "ping"},
	"ibstat":        {tool: ibstat.New, native: "devinfo"},
	"ibstatus":      {tool: ibstatus.New, native: "devinfo"},
	"ibv_devices":   {tool: ibvdevices.New, native: "devinfo"},
	"ibv_devinfo":   {tool: ibvdevinfo.New, native: "devinfo"},

	"ibv_asyncwatch": {tool: ibvasyncwatch.New, native: "devinfo"},

	"ibcheckerrors":   {tool: ibcheck.New("ibcheckerrors"), native: "counters"},
	"ibcheckerrs":     {tool: ibcheck.New("ibcheckerrs"), native: "counters"},
	"ibclearcounters": {tool: ibcheck.New("ibclearcounters"), native: "counters"},
	"ibclearerrors":   {tool: ibcheck.New("ibclearerrors"), native: "counters"},
	"ibdatacounters":  {tool: ibcheck.New("ibdatacounters"), native: "counters"},
	"ibdatacounts":    {tool: ibcheck.New("ibdatacounts"), native: "counters"},
	"ibqueryerrors":   {tool: ibqueryerrors.New, native: "counters"},
	"ibswportwatch":   {tool: ibswportwatch.New, native: "counters"},
	"perfquery":       {tool: perfquery.New, native: "counters"},

	"ibccconfig":  {tool: ibccconfig.New, native: "cc"},
	"ibportstate": {tool: ibportstate.New, native: "port"},

	"ibccquery":  {tool: ibccquery.New, native: "query"},
	"ibsysstat":  {tool: ibsysstat.New, native: "query"},
	"saquery":    {tool: saquery.New, native: "sa"},
	"ibsendtrap": {tool: ibsendtrap.New, native: "trap"},
	"sminfo":     {tool: sminfo.New, native: "sm"},

	"mcm_rereg_test": {tool: mcmreregtest.New, native: "sa"},

	"smpdump":  {tool: smpdump.New, native: "query"},
	"smpquery": {tool: smpquery.New, native: "query"},
	"vendstat": {tool: vendstat.New, native: "query"},

	"check_lft_balance": {tool: checklftbalance.New, native: "routes"},
	"dump_fts":          {tool: dumpfts.New, native: "routes"},
	"dump_lfts":         {tool: dumpfts.NewLFTs, native: "routes"},
	"dump_mfts":         {tool: dumpfts.NewMFTs, native: "routes"},
	"ibfindnodesusing":  {tool: ibfindnodesusing.New, native: "routes"},
	"ibroute":           {tool: ibroute.New, native: "routes"},
	"ibtracert":         {tool: ibtracert.New, native: "route"},

	"cmtime":       {tool: cmtime.New, native: "cm"},
	"mckey":        {tool: mckey.New, native: "cm"},
	"rdma_client":  {tool: rdmaexample.NewClient, native: "cm"},
	"rdma_server":  {tool: rdmaexample.NewServer, native: "cm"},
	"rdma_xclient": {tool: rdmaxexample.NewClient, native: "cm"},
	"rdma_xserver": {tool: rdmaxexample.NewServer, native: "cm"},
	"rping":        {tool: rping.New, native: "cm"},
	"ucmatose":     {tool: ucmatose.New, native: "cm"},
	"udaddy":       {tool: udaddy.New, native: "cm"},
	"udpong":       {tool: udpong.New, native: "cm"},

	"ib_atomic_bw":  {tool: perftest.New("ib_atomic_bw"), native: "perf"},
	"ib_atomic_lat": {tool: perftest.New("ib_atomic_lat"), native: "perf"},
	"ib_read_bw":    {tool: perftest.New("ib_read_bw"), native: "perf"},
	"ib_read_lat":   {tool: perftest.New("ib_read_lat"), native: "perf"},
	"ib_send_bw":    {tool: perftest.New("ib_send_bw"), native: "perf"},
	"ib_send_lat":   {tool: perftest.New("ib_send_lat"), native: "perf"},
	"ib_write_bw":   {tool: perftest.New("ib_write_bw"), native: "perf"},
	"ib_write_lat":  {tool: perftest.New("ib_write_lat"), native: "perf"},

	"ibv_rc_pingpong":   {tool: ibvpingpong.NewRC, native: "perf"},
	"ibv_srq_pingpong":  {tool: ibvpingpong.NewSRQ, native: "perf"},
	"ibv_uc_pingpong":   {tool: ibvpingpong.NewUC, native: "perf"},
	"ibv_ud_pingpong":   {tool: ibvpingpong.NewUD, native: "perf"},
	"ibv_xsrq_pingpong": {tool: ibvpingpong.NewXSRQ, native: "perf"},
}
