package cmd

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// TestMistakes checks the next step that the error of a mistaken command line names.
func TestMistakes(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		hint string
	}{
		"phy --sim demo --show_fec":                         {cmdutil.ExitUsage, "try --fec --details;"},
		"phy --sim demo --temp":                             {cmdutil.ExitUsage, "try --devices;"},
		"phy --sim demo --problems":                         {cmdutil.ExitUsage, "findings are below the table; links with findings: ibkit linkinfo --phy --problems;"},
		"phy --from /nonexistent":                           {cmdutil.ExitUsage, "the file of ibdiagnet --get_phy_info: ibdiagnet2.db_csv"},
		"mesh demo":                                         {cmdutil.ExitUsage, "try ibkit mesh --sim demo;"},
		"mesh --sim demo results.csv":                       {cmdutil.ExitUsage, "to judge results: ibkit mesh analyze --sim demo FILE;"},
		"mesh start":                                        {cmdutil.ExitUsage, "try ibkit mesh run;"},
		"mesh run -n 4":                                     {cmdutil.ExitUsage, "start workers with srun or mpirun, or --hosts LIST;"},
		"mesh run node01":                                   {cmdutil.ExitUsage, "hosts: --hosts 'node[01-16]';"},
		"mesh run --hostfile f":                             {cmdutil.ExitUsage, "try --hosts 'node[01-16]';"},
		"mesh serve --expect /nonexistent":                  {cmdutil.ExitUsage, "the file has a host on each line; or give the number of workers"},
		"mesh analyze --sim demo --compare f f":             {cmdutil.ExitUsage, "try --baseline FILE;"},
		"mesh analyze --sim demo f g":                       {cmdutil.ExitUsage, "compare with an earlier run: --baseline FILE"},
		"linkinfo -o out":                                   {cmdutil.ExitUsage, "redirect the output: > FILE; for its format: --json"},
		"devinfo --gpu":                                     {cmdutil.ExitUsage, "try --topology;"},
		"devinfo --pfc":                                     {cmdutil.ExitUsage, "try --roce;"},
		"devinfo mlx5_0 1":                                  {cmdutil.ExitUsage, "all ports of a device: ibkit devinfo DEVICE"},
		"check node leaf1":                                  {cmdutil.ExitUsage, "it checks this host; a node of the fabric: ibkit linkinfo --node NODE;"},
		"check node --manifest f":                           {cmdutil.ExitUsage, "try --expect FILE;"},
		"exporter start":                                    {cmdutil.ExitUsage, "it runs until it is interrupted; as a service: systemctl start ibkit-exporter;"},
		"exporter --web.listen-address :9":                  {cmdutil.ExitUsage, "try --listen ADDRESS;"},
		"ethtool -m eth0":                                   {cmdutil.ExitUsage, "RoCE ports: ibkit devinfo --roce;"},
		"optics":                                            {cmdutil.ExitUsage, "try ibkit phy;"},
		"phy --sim demo 3":                                  {cmdutil.ExitFailed, "show the name of a LID: ibkit addr --sim demo 3; a port of a node: ibkit port --sim demo NODE 3"},
		"phy --sim demo lid:3":                              {cmdutil.ExitFailed, "show the name of a LID: ibkit addr --sim demo 3;"},
		"mesh plan --sim demo --node node99":                {cmdutil.ExitFailed, `similar names: "node09"`},
		"mesh --sim demo --noise 5%":                        {cmdutil.ExitUsage, "--noise PERCENT: standard deviation of figures in PERCENT"},
		"mesh plan --sim demo --schedule file:/nonexistent": {cmdutil.ExitUsage, "lines of ROUND SENDER RECEIVER, as ibkit mesh plan"},
		"mesh serve 4":                                      {cmdutil.ExitUsage, "expected workers: --expect FILE, or a number;"},
		"exporter http://localhost:9315":                    {cmdutil.ExitUsage, "its address: --listen HOST:PORT;"},
		"devinfo --topology x.svg":                          {cmdutil.ExitUsage, "a picture: --topology --svg > FILE"},
		"check node --pcie":                                 {cmdutil.ExitUsage, "try --only STAGE;"},
		"check node --rate 400":                             {cmdutil.ExitUsage, "values of a manifest: --expect FILE; write it: --write-expect FILE;"},
		"nhc":                                               {cmdutil.ExitUsage, "try ibkit check node --format nhc;"},
		"linkinfo --sim demo --sim-events /nonexistent":     {cmdutil.ExitUsage, "the file has a time and a command on each line: 5s unlink leaf1[5];"},
		"exporter --sim demo --web-config /nonexistent":     {cmdutil.ExitUsage, "the form of Prometheus exporters, with tls_server_config and basic_auth_users"},
		"mesh analyze --sim demo f --baseline /nonexistent": {cmdutil.ExitUsage, "the results of another run, as mesh run --results writes them"},
		"phy --guid 0x5":                                    {cmdutil.ExitUsage, "try --node NODE, a name, GUID or pattern;"},
		"phy --version":                                     {cmdutil.ExitUsage, "ibkit version"},
		"doctor --fix":                                      {cmdutil.ExitUsage, "it prints the commands that fix problems; run them as root;"},
		"phy --rx_fec_histogram":                            {cmdutil.ExitUsage, "similar: --fec;"},
		"linkinfo --only-problems":                          {cmdutil.ExitUsage, "similar: --problems;"},
		"devinfo --pfc-stats":                               {cmdutil.ExitUsage, "try --roce;"},
		"exporter --sweep-interval 5":                       {cmdutil.ExitUsage, "similar: --interval;"},
		"linkinfo --problem":                                {cmdutil.ExitUsage, "similar: --problems; list all flags: ibkit linkinfo --help"},
		"top --intervall 1":                                 {cmdutil.ExitUsage, "similar: --interval;"},
		"linkinfo -sim demo":                                {cmdutil.ExitUsage, "long flags have two dashes: --sim"},
		"ping -sim=demo leaf1":                              {cmdutil.ExitUsage, "long flags have two dashes: --sim"},
		"--json linkinfo":                                   {cmdutil.ExitUsage, "flags follow the command: ibkit COMMAND --json"},
		"counters -p 1":                                     {cmdutil.ExitUsage, "similar: --ports, --phy;"},
		"topology --html":                                   {cmdutil.ExitUsage, "try --format html;"},
		"topology --switches --csv":                         {cmdutil.ExitUsage, "try --format csv;"},
		"check demo":                                        {cmdutil.ExitUsage, "try ibkit check fabric --sim demo;"},
		"demo":                                              {cmdutil.ExitUsage, "try ibkit check fabric --sim demo;"},
		"ping --sim demo -s 9000000 leaf1":                  {cmdutil.ExitUsage, "use --payload-size instead"},
		"topology --sim demo --plan /nonexistent":           {cmdutil.ExitUsage, "save the current cabling as a plan: ibkit topology --sim demo --write-plan FILE"},
		"linkinfo --sim demo --json --csv":                  {cmdutil.ExitUsage, "give only one: --json: print JSON; --csv: print comma-separated values"},
		"phy --sim demo --fec":                              {cmdutil.ExitUsage, "--json: print JSON; --raw: print the bytes of all registers, for a bug report"},
		"linkinfo --from /nonexistent":                      {cmdutil.ExitUsage, "sources: sweep, sa, or a file: ibkit linkinfo --save FILE"},
		"linkinfo --from /nonexistent --sim demo":           {cmdutil.ExitUsage, "sources: sweep (a scan, also of a simulated fabric), sa, or a file,"},
		"routes --tables /nonexistent":                      {cmdutil.ExitUsage, "store the tables of a fabric: ibkit check routes --save FILE"},
		"check routes --diff /nonexistent":                  {cmdutil.ExitUsage, "store the tables of a fabric: ibkit check routes --save FILE"},
		"mesh plan --from /nonexistent":                     {cmdutil.ExitUsage, "store the tables of a fabric: ibkit check routes --save FILE"},
		"check node --expect /nonexistent":                  {cmdutil.ExitUsage, "write a manifest: ibkit check node --write-expect FILE"},
		"ping --targets-file /nonexistent":                  {cmdutil.ExitUsage, "the file has a target on each line; -: standard input"},
		"ping --expect /nonexistent":                        {cmdutil.ExitUsage, "the file has a target on each line; -: standard input"},
		"port --targets-file /nonexistent reset":            {cmdutil.ExitUsage, "the file has a target on each line; -: standard input"},
		"route --targets-file /nonexistent":                 {cmdutil.ExitUsage, "the file has two ports on each line; -: standard input"},
		"linkinfo --node-name-map /nonexistent":             {cmdutil.ExitUsage, "the file has a node GUID and a name on each line: 0x0002c90300001234 leaf1"},
		"counters --threshold-file /nonexistent":            {cmdutil.ExitUsage, "the file has a counter and its limit on each line: SymbolErrors=10"},
		"addr --sim demo nosuch":                            {cmdutil.ExitFailed, "list all nodes: ibkit topology --sim demo --nodes; to find ports"},
		"sa --sim demo PathRecord node01 node05":            {cmdutil.ExitUsage, "the paths between two ports: ibkit route --sim demo node01 node05; list all fields: ibkit sa --list PathRecord"},
		"ping --sim demo 10.0.0.5":                          {cmdutil.ExitUsage, "name a LID, a GUID, a GID or a node"},
		"mesh --sim demo --fault leaf1[9]=50%":              {cmdutil.ExitUsage, "for example 'leaf1[3]=60%' or node01=hang; list all nodes: ibkit topology --sim demo --nodes"},
		"mesh --sim demo --fault node7=hang":                {cmdutil.ExitUsage, `similar names: "node07"`},
		"route --sim demo node02 spine*":                    {cmdutil.ExitFailed, "name a single node: spine1, spine2; list all nodes: ibkit topology --sim demo --nodes"},
		"query --sim demo leaf1":                            {cmdutil.ExitUsage, "the attribute is first: ibkit query --sim demo PortInfo TARGET"},
		"perf -C mlx5_0 host":                               {cmdutil.ExitUsage, "use --device instead"},
		"cm --device mlx5_0 host":                           {cmdutil.ExitUsage, "try --bind ADDRESS (of the device)"},
		"devinfo -d mlx5_0":                                 {cmdutil.ExitUsage, "the device is an operand: ibkit devinfo DEVICE"},
		"linkinfo --sim json:/etc/passwd":                   {cmdutil.ExitUsage, "json:FILE has the output of linkinfo --json --attributes"},
		"watch --sim demo links":                            {cmdutil.ExitUsage, "select sources: --sources links"},
		"watch --sim demo true":                             {cmdutil.ExitUsage, "arguments belong to the program of --exec"},
		"top --from x --once":                               {cmdutil.ExitUsage, "stored fabrics: ibkit linkinfo, topology or check fabric --from FILE; list all flags: ibkit top --help"},
		"route --from x node01 node02":                      {cmdutil.ExitUsage, "use --from-port instead; stored tables: --tables FILE"},
		"port --sim demo leaf1 1 speed=400":                 {cmdutil.ExitUsage, "400 Gbit/s on 4 lanes is NDR"},
		"routes --sim demo leaf1 xx":                        {cmdutil.ExitFailed, "list all nodes: ibkit topology --sim demo --nodes"},
		"linkinfo --sim demo xx":                            {cmdutil.ExitFailed, "list all nodes: ibkit topology --sim demo --nodes"},
		"check fabric demo":                                 {cmdutil.ExitUsage, "try --sim demo;"},
		"exporter 9100":                                     {cmdutil.ExitUsage, "try --listen :9100;"},
		"exporter --port 9100":                              {cmdutil.ExitUsage, "try --listen;"},
		"sim export demo x.net":                             {cmdutil.ExitUsage, "write to a file: --output x.net"},
		"devinfo nodev":                                     {cmdutil.ExitFailed, "list all devices: ibkit devinfo"},
		"route --from a --to b":                             {cmdutil.ExitUsage, "use --from-port instead; stored tables: --tables FILE"},
		"counters --sim demo node01,node02":                 {cmdutil.ExitFailed, `similar names: "node01", "node02"`},
		"linkinfo --output json":                            {cmdutil.ExitUsage, "redirect the output: > FILE; for its format: --json;"},
		"linkinfo -o json":                                  {cmdutil.ExitUsage, "output format: --json"},
		"linkinfo --only-errors":                            {cmdutil.ExitUsage, "try --problems;"},
		"linkinfo --sim":                                    {cmdutil.ExitUsage, "--sim FABRIC: simulate a FABRIC: see ibkit sim list"},
		"linkinfo --sim dmeo":                               {cmdutil.ExitUsage, `similar names: "demo"`},
		"linkinfo --speed 400":                              {cmdutil.ExitUsage, "400 Gbit/s on 4 lanes is NDR"},
		"linkinfo --speed 100Gbps":                          {cmdutil.ExitUsage, "100 Gbit/s on 4 lanes is EDR"},
		"linkinfo --sim demo 3":                             {cmdutil.ExitFailed, "show the name of a LID: ibkit addr --sim demo 3"},
		"linkinfo --sim demo laef1":                         {cmdutil.ExitFailed, `similar names: "leaf1", "leaf2", "leaf3"`},
		"topology --sim demo laef1":                         {cmdutil.ExitFailed, `similar names: "leaf1", "leaf2", "leaf3"`},
		"check fabric --sim demo laef1":                     {cmdutil.ExitUsage, "flags and examples: ibkit check fabric --help"},
		"cc --sim demo leaf1":                               {cmdutil.ExitUsage, "select nodes with --node;"},
		"counters --sim demo --clear":                       {cmdutil.ExitUsage, "try --reset errors;"},
		"counters --sim demo --reset":                       {cmdutil.ExitUsage, "--reset LIST: clear a LIST of counters of the selected ports: errors, traffic, details"},
		"counters --sim demo leaf1:1":                       {cmdutil.ExitFailed, `similar names: "leaf1/1"`},
		"port --sim demo leaf1 disable --yes":               {cmdutil.ExitUsage, "a port is leaf1/3; all ports: ibkit port --sim demo leaf1"},
		"query --sim demo PortInfos leaf1":                  {cmdutil.ExitUsage, `similar names: "PortInfo"`},
		"sa --sim demo paths":                               {cmdutil.ExitUsage, `similar names: "PathRecord"`},
		"addr --sim demo laef1":                             {cmdutil.ExitFailed, `similar names: "leaf1", "leaf2", "leaf3"`},
		"addr --sim demo node1":                             {cmdutil.ExitFailed, `similar names: "node01", "node10", "node11"`},
		"ping --sim demo nod07":                             {cmdutil.ExitFailed, `similar names: "node07"`},
		"route --sim demo node01 node7":                     {cmdutil.ExitFailed, `similar names: "node07"`},
		"perf write_bw host":                                {cmdutil.ExitUsage, "ibkit perf host --test write-bw"},
		"perf host ib_send_lat":                             {cmdutil.ExitUsage, "ibkit perf host --test send-lat"},
		"perf host1 host2":                                  {cmdutil.ExitUsage, "give a single server, and tests with --test;"},
		"perf --sim demo":                                   {cmdutil.ExitUsage, "a simulated fabric carries no data: add a software device, ibkit link add"},
		"cm --sim demo node01":                              {cmdutil.ExitUsage, "a simulated fabric carries no data: add a software device, ibkit link add"},
		"check node --sim demo":                             {cmdutil.ExitUsage, "the command does not use a fabric;"},
		"link add rxe0 kind rxe netdev lo":                  {cmdutil.ExitUsage, "for example: ibkit link add rxe0 --type rxe --netdev eth0"},
		"link add rxe0 --type rxe":                          {cmdutil.ExitUsage, "for example: --netdev eth0;"},
		"counters --sim demo --rate 10":                     {cmdutil.ExitUsage, "use --window instead"},
		"counters --sim demo --duration 10":                 {cmdutil.ExitUsage, "try --window;"},
		"completion bash zsh":                               {cmdutil.ExitUsage, "flags and examples: ibkit completion --help"},
		"linkinfo --node --sim demo":                        {cmdutil.ExitUsage, "--node PATTERN: show only nodes"},
		"linkinfo --finding --sim demo":                     {cmdutil.ExitUsage, "--finding FINDING: show only links"},
		"top --interval --sim demo":                         {cmdutil.ExitUsage, "--interval "},
		"linkinfo --node=--sim --sim demo":                  {cmdutil.ExitFailed, "list all nodes: ibkit topology --sim demo --nodes"},
		"linkinfo --prob":                                   {cmdutil.ExitUsage, "similar: --problems"},
		"linkinfo -problems":                                {cmdutil.ExitUsage, "long flags have two dashes: --problems"},
		"linkinfo --sim demo --finding dirty-fibre":         {cmdutil.ExitUsage, "ibkit phy and ibkit check fabric report dirty-fibre"},
		"linkinfo --sim demo leaf1[1]":                      {cmdutil.ExitFailed, "the node: leaf1; only this port: ibkit port --sim demo leaf1 1"},
		"phy --sim demo --node leaf1/1":                     {cmdutil.ExitFailed, "the node: leaf1; only this port: ibkit port --sim demo leaf1 1"},
		"phy --sim demo --port 1":                           {cmdutil.ExitUsage, "a node with all its ports: --node NODE; the local port: --Port"},
		"phy --sim demo -d leaf1":                           {cmdutil.ExitUsage, "a node: --node NODE; ports without a link: --down"},
		"phy --sim demo --diff /etc/passwd":                 {cmdutil.ExitUsage, "store a reading: ibkit phy --sim demo --json > FILE"},
		"counters --sim demo 3 1":                           {cmdutil.ExitUsage, "the port: 3 --ports 1; the LID: lid:1"},
		"counters --sim demo --reset errors --yes leaf1 1":  {cmdutil.ExitUsage, "the port: 'leaf1[1]'; the LID: lid:1"},
		"linkinfo --finding slo":                            {cmdutil.ExitUsage, "similar: slow"},
		"linkinfo --speed NDR400":                           {cmdutil.ExitUsage, "similar: NDR"},
		"check fabric --only link":                          {cmdutil.ExitUsage, "similar: links"},
		"check fabric --skip counter":                       {cmdutil.ExitUsage, "similar: counters"},
		"watch --sources link":                              {cmdutil.ExitUsage, "similar: links"},
		"port --sim demo leaf1 1 disabled":                  {cmdutil.ExitUsage, "similar: disable"},
		"port --sim demo disable leaf1 1":                   {cmdutil.ExitUsage, "the order is TARGET PORT CHANGE: ibkit port --sim demo leaf1 1 disable"},
		"port --sim demo 1 leaf1":                           {cmdutil.ExitUsage, "the order is TARGET PORT CHANGE: ibkit port --sim demo leaf1 1"},
		"port --sim demo disable leaf* 1":                   {cmdutil.ExitUsage, "the order is TARGET PORT CHANGE\n"},
		"port --sim demo leaf1 1 speed NDR":                 {cmdutil.ExitUsage, "settings are NAME=VALUE: speed=NDR"},
		"port --sim demo leaf1 1 speed":                     {cmdutil.ExitUsage, "settings are NAME=VALUE: speed=VALUE"},
		"port --sim demo leaf* 1 disable":                   {cmdutil.ExitFailed, "list the nodes: ibkit topology --sim demo --nodes"},
		"linkinfo --diff /nonexistent":                      {cmdutil.ExitUsage, "create one: ibkit linkinfo --save FILE"},
		"linkinfo --diff /etc/passwd":                       {cmdutil.ExitUsage, "create one: ibkit linkinfo --save FILE"},
		"topology --diff /nonexistent":                      {cmdutil.ExitUsage, "create one: ibkit topology --save FILE"},
		"check fabric --plan /nonexistent":                  {cmdutil.ExitUsage, "save the current cabling as a plan: ibkit topology --write-plan FILE"},
		"check fabric --since /nonexistent":                 {cmdutil.ExitUsage, "save a baseline: ibkit counters --save FILE"},
		"counters --since /nonexistent":                     {cmdutil.ExitUsage, "save a baseline: ibkit counters --save FILE"},
		"check node --thresholds /nonexistent":              {cmdutil.ExitUsage, "write the defaults: ibkit check node --write-thresholds FILE"},
		"check fabric --thresholds /nonexistent":            {cmdutil.ExitUsage, "write the defaults: ibkit check fabric --write-thresholds FILE"},
		"cc --settings /nonexistent":                        {cmdutil.ExitUsage, "keys and an example of such a file: ibkit cc --help"},
		"devinfo --device mlx5_0":                           {cmdutil.ExitUsage, "the device is an operand: ibkit devinfo DEVICE"},
		"routes --sim demo node01":                          {cmdutil.ExitFailed, "list all switches: ibkit topology --sim demo --switches;"},
		"ping --sim demo all":                               {cmdutil.ExitFailed, "list all nodes: ibkit topology --sim demo --nodes"},
		"port --sim demo leaf1 1 speed=NDR --foo":           {cmdutil.ExitUsage, "list all flags: ibkit port --help"},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, stderr := runProgram(t, line)
			_, hint, _ := strings.Cut(stderr, "\nhint: ")
			if code != want.code || out != "" || !strings.HasPrefix(hint, want.hint) {
				t.Errorf("got exit code %d, output %q, error output %q, want %d and hint %q", code, out, stderr, want.code, want.hint)
			}
		})
	}
}

// TestHabits checks command lines of other programs that ibkit accepts, with the line that
// it documents.
func TestHabits(t *testing.T) {
	for habit, same := range map[string]string{
		"linkinfo --sim demo leaf1":                              "linkinfo --sim demo --node leaf1",
		"links --sim demo leaf1 leaf2":                           "linkinfo --sim demo --node leaf1,leaf2",
		"linkinfo --sim demo --width 4":                          "linkinfo --sim demo --width 4X",
		"linkinfo --sim demo --width 2,4":                        "linkinfo --sim demo --width 2X,4X",
		"phy --sim demo leaf1":                                   "phy --sim demo --node leaf1",
		"topology --sim demo leaf1":                              "topology --sim demo --node leaf1",
		"topology --sim demo leaf* --switches":                   "topology --sim demo --switches --node leaf*",
		"query --sim demo leaf1 PortInfo":                        "query --sim demo PortInfo leaf1",
		"query --sim demo leaf1 PI 1":                            "query --sim demo PortInfo leaf1 1",
		"query --sim demo 3 PortInfo":                            "query --sim demo PortInfo 3",
		"query --sim demo SI leaf1":                              "query --sim demo SwitchInfo leaf1",
		"port --sim demo leaf1 1 speed=NDR --dry-run":            "port --sim demo leaf1 1 espeed=NDR --dry-run",
		"port --sim demo leaf1 1 speed=hdr,ndr --dry-run":        "port --sim demo leaf1 1 espeed=HDR,NDR --dry-run",
		"port --sim demo leaf1 1 width=4 --dry-run":              "port --sim demo leaf1 1 width=4X --dry-run",
		"sm --sim demo --sm-wait 0 --format table":               "sm --sim demo --sm-wait 0s",
		"path --sim demo node01 node07":                          "route --sim demo node01 node07",
		"resolve --sim demo leaf1":                               "addr --sim demo leaf1",
		"records --sim demo NR lid=3":                            "sa --sim demo NodeRecord lid=3",
		"check routes --sim demo --format table --pattern shift": "check routes --sim demo --pattern shift",
	} {
		t.Run(habit, func(t *testing.T) {
			code, out, stderr := runProgram(t, habit)
			wantCode, want, wantErr := runProgram(t, same)
			if code != wantCode || out != want || stderr != wantErr {
				t.Errorf("got exit code %d, output\n%s\nerror output %q, want %d,\n%s\n%q as of ibkit %s", code, out, stderr, wantCode, want, wantErr, same)
			}
		})
	}
}

// TestSeconds checks which flags accept a time without its unit.
func TestSeconds(t *testing.T) {
	for line, want := range map[string]string{
		"counters --sim demo --window 0":               "invalid --window 0s: want a time above 0",
		"counters --sim demo --interval -1":            `invalid --interval "-1": not a duration with a unit`,
		"counters --sim demo --window 40000000":        "invalid --window 11111h6m40s: want at most 8760h",
		"watch --sim demo --window 1.5 --interval 0":   "invalid --interval 0s",
		"link add a --type rxe --netdev lo --wait 1,2": "invalid --wait",
		"perf --max-p99 5s5 host":                      `invalid --max-p99 "5s5": not a duration with a unit, for example 500ms or 10s`,
		"perf --max-p99 5 host":                        `invalid --max-p99 "5": not a duration with a unit`,
	} {
		t.Run(line, func(t *testing.T) {
			if code, _, stderr := runProgram(t, line); code != cmdutil.ExitUsage || !strings.Contains(stderr, want) {
				t.Errorf("got exit code %d, error output %q, want %d, %q", code, stderr, cmdutil.ExitUsage, want)
			}
		})
	}
	_, out, _ := runProgram(t, "counters --sim demo --window 0.05 --json")
	if want := "\n\"window_seconds\":0.05"; !strings.Contains(out, want) {
		t.Errorf("--window 0.05: got\n%s\nwant %q", out, want)
	}
}

// TestMistakeMessages checks the message of mistakes that the flag parser misreads.
func TestMistakeMessages(t *testing.T) {
	for line, want := range map[string]string{
		"linkinfo --node --sim demo":              "ibkit linkinfo: flag needs an argument: --node\n",
		"linkinfo --finding --sim demo":           "ibkit linkinfo: flag needs an argument: --finding\n",
		"check fabric --plan --sim demo":          "ibkit check fabric: flag needs an argument: --plan\n",
		"linkinfo -problems":                      "ibkit linkinfo: unknown flag: -problems\n",
		"linkinfo --node=--sim --sim demo":        "ibkit linkinfo: find name --sim: no node has this name\n",
		"linkinfo --diff /etc/passwd":             "ibkit linkinfo: compare fabric: /etc/passwd is not a fabric cache\n",
		"port --sim demo 999 1 --dry-run disable": "ibkit port: find LID 999: no port has this LID\n",
	} {
		t.Run(line, func(t *testing.T) {
			if _, _, stderr := runProgram(t, line); !strings.HasPrefix(stderr, want) {
				t.Errorf("got error output %q, want %q", stderr, want)
			}
		})
	}
}
