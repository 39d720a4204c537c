package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/internal/e2e/replay"
)

const (
	// startLimit is how long a daemon may take until it answers: generous, for
	// a busy machine and the race detector.
	startLimit = 2 * time.Minute

	// stopLimit is how long it may take to end.
	stopLimit = 2 * time.Minute

	// portTries is how many free ports are tried: another program may take one
	// between the moment it was found free and the daemon's start.
	portTries = 5
)

// Config says how a daemon is started. The zero value is a node without
// blocks on the main chain.
type Config struct {
	Chain  string   // "regtest" or "signet", or "main" or empty
	Args   []string // further options
	Blocks []string // block files to load, plain or .gz
	Dir    string   // data directory; empty: a new directory for this test
	Addr   string   // 127.0.0.1:port of the RPC server; empty: whatever is free
	P2P    string   // host:port to accept peers at; empty: nowhere

	// Program is the trawld to run, which may be of another revision. Empty: this
	// module's.
	Program string
}

// hasDir reports whether the chain has a folder of its own, by its name.
func (c Config) hasDir() bool { return c.Chain == "regtest" || c.Chain == "signet" }

// A Daemon is a running trawld. Its client is closed and its process ended at
// the end of the test at the latest.
//
// Its methods belong to the goroutine of the test; the client serves any.
type Daemon struct {
	*jsonrpc.Client

	Dir    string // data directory
	NetDir string // its part for the chain
	Addr   string // host:port of the RPC server
	P2P    string // host:port for peers; empty: none

	tb      testing.TB
	config  Config
	process *Process
}

// Start starts a daemon and waits until it answers.
func Start(tb testing.TB, c Config) *Daemon {
	tb.Helper()
	d := &Daemon{tb: tb, config: c, Dir: c.Dir, P2P: c.P2P}
	if d.Dir == "" {
		d.Dir = tb.TempDir()
	}
	d.NetDir = d.Dir
	if c.hasDir() {
		d.NetDir = filepath.Join(d.Dir, c.Chain)
	}
	d.start(c.Blocks)
	tb.Cleanup(d.Kill)
	return d
}

// Restart starts the daemon again, on the same directory with the same
// options, after it was stopped or killed. The blocks are loaded anew only if
// they are named.
func (d *Daemon) Restart(blocks ...string) {
	d.tb.Helper()
	d.start(blocks)
}

func (d *Daemon) start(blocks []string) {
	d.tb.Helper()
	args := d.args(blocks)
	for range portTries {
		if d.tryPort(args) {
			return
		}
	}
	d.tb.Fatalf("no port for trawld after %d tries", portTries)
}

// tryPort starts the process on some free port. It returns false when the port
// was taken meanwhile.
func (d *Daemon) tryPort(args []string) bool {
	d.tb.Helper()
	cookie := filepath.Join(d.NetDir, ".cookie")
	d.launch(args, cookie)
	if !poll(startLimit, func() bool { return d.process.HasEnded() || d.answers(cookie) }) {
		d.process.Signal(syscall.SIGQUIT) // it tells what each goroutine does
		_ = poll(stopLimit, d.process.HasEnded)
		d.process.Kill()
		d.tb.Fatalf("trawld does not answer within %v\nlog:\n%s\n%s", startLimit, d.LogTail(), d.process.Stderr())
	}
	switch {
	case d.Client != nil:
		return true
	case strings.Contains(d.process.Stderr(), "Unable to start HTTP server"),
		strings.Contains(d.process.Stderr(), d.Addr+": bind: address already in use"): // by this node itself
		return false
	}
	d.tb.Fatalf("trawld refused to start: %v\n%s\nlog:\n%s", d.process.Err(), d.process.Stderr(), d.LogTail())
	return false
}

// launch starts the process, without the cookie that a killed one left.
func (d *Daemon) launch(args []string, cookie string) {
	d.tb.Helper()
	if d.Addr = d.config.Addr; d.Addr == "" {
		d.Addr = FreeAddr(d.tb)
	}
	_, port, _ := strings.Cut(d.Addr, ":")
	if err := os.Remove(cookie); err != nil && !os.IsNotExist(err) {
		d.tb.Fatal(err)
	}
	program := d.config.Program
	if program == "" {
		program = Program(d.tb, "trawld")
	}
	d.process = Run(d.tb, program, append(slices.Clip(args), "-rpcport="+port)...)
}

// KillStarting starts the daemon like [Daemon.Restart] and kills it after some
// time, whether it answers by then or not.
func (d *Daemon) KillStarting(after time.Duration) {
	d.tb.Helper()
	d.EndStarting(after, d.Kill)
}

// EndStarting does the same by what end does. The blocks are loaded if they are named.
func (d *Daemon) EndStarting(after time.Duration, end func(), blocks ...string) {
	d.tb.Helper()
	d.launch(d.args(blocks), filepath.Join(d.NetDir, ".cookie"))
	<-time.After(after)
	end()
}

// answers reports whether the daemon has come up, and keeps its client.
func (d *Daemon) answers(cookie string) bool {
	login, err := os.ReadFile(cookie)
	if err != nil || len(login) == 0 {
		return false
	}
	client := jsonrpc.New(d.Addr, string(login))
	err = client.Call(d.tb.Context(), nil, "getblockcount")
	if err != nil { // an attached node may know of no chain yet
		err = client.Call(d.tb.Context(), nil, "getattachinfo")
	}
	if err != nil {
		client.Close() // refused, or warming up (-28)
		return false
	}
	d.Client = client
	return true
}

// args are the options of a node without peers, and those of the test.
func (d *Daemon) args(blocks []string) []string {
	args := []string{"-datadir=" + d.Dir}
	if d.config.hasDir() {
		args = append(args, "-"+d.config.Chain)
	}
	args = append(
		args, "-printtoconsole=0", "-dnsseed=0", "-fixedseeds=0", "-listenonion=0", "-natpmp=0", "-listen=0",
		"-connect=0",
	)
	if d.P2P != "" {
		args = append(args, PeerArgs(d.P2P)...)
	}
	if d.config.Program == "" && !slices.ContainsFunc(d.config.Args, choosesReference) {
		args = append(args, "-core=30") // the recordings are of Core 30.2
	}
	args = append(args, d.config.Args...)
	for _, file := range blocks {
		args = append(args, "-loadblock="+d.unpacked(file))
	}
	return args
}

// choosesReference reports whether an option says which program the daemon speaks as. With -attach it is that
// beside it.
func choosesReference(arg string) bool {
	return strings.HasPrefix(arg, "-core=") || strings.HasPrefix(arg, "-attach=") || arg == "-dialect=qbit"
}

// unpacked returns the path of a plain copy of a block file: the daemon reads
// no other.
func (d *Daemon) unpacked(file string) string {
	d.tb.Helper()
	name, isPacked := strings.CutSuffix(filepath.Base(file), ".gz")
	if !isPacked {
		return file
	}
	text, err := replay.ReadFile(file)
	if err != nil {
		d.tb.Fatal(err)
	}
	plain := filepath.Join(d.tb.TempDir(), name)
	if err := os.WriteFile(plain, text, 0o600); err != nil {
		d.tb.Fatal(err)
	}
	return plain
}

// Get calls a method that has to succeed.
func (d *Daemon) Get(result any, method string, params ...any) {
	d.tb.Helper()
	if err := d.Call(d.tb.Context(), result, method, params...); err != nil {
		d.tb.Fatalf("%s %.200s: %v\nlog:\n%s", method, fmt.Sprint(params...), err, d.LogTail())
	}
}

// PID returns the id of the daemon's process.
func (d *Daemon) PID() int { return d.process.PID() }

// Stop stops the daemon by RPC, which has to succeed without a word.
func (d *Daemon) Stop() {
	d.tb.Helper()
	d.Get(nil, "stop")
	d.WantCleanEnd()
}

// Signal sends a signal to the process.
func (d *Daemon) Signal(signal os.Signal) {
	d.tb.Helper()
	d.process.Signal(signal)
}

// smallDisk is what a chain that begins says of a disk that has no room for the whole main chain.
var smallDisk = regexp.MustCompile(`(?m)^Warning: Disk space for ".*" may not accommodate the block files\. .*\n`)

// WantCleanEnd waits for the end of a process that was asked to stop.
func (d *Daemon) WantCleanEnd() {
	d.tb.Helper()
	d.disconnect()
	Eventually(d.tb, stopLimit, "trawld ends", d.process.HasEnded)
	if err, stderr := d.process.Err(), smallDisk.ReplaceAllString(d.process.Stderr(), ""); err != nil || stderr != "" {
		d.tb.Errorf("trawld ended with %v\n%s\nlog:\n%s", err, stderr, d.LogTail())
	}
}

// Pid returns the number of the process.
func (d *Daemon) Pid() int { return d.process.cmd.Process.Pid }

// HasEnded reports whether the process has ended.
func (d *Daemon) HasEnded() bool { return d.process.HasEnded() }

// Stderr returns what a daemon that has ended wrote to its standard error.
func (d *Daemon) Stderr() string { return d.process.Stderr() }

// Kill ends the process at once, as a crash does. It has no effect if the
// process has ended.
func (d *Daemon) Kill() {
	d.disconnect()
	d.process.Kill()
}

func (d *Daemon) disconnect() {
	if d.Client != nil {
		d.Close()
	}
	d.Client = nil
}

// Terminate asks the daemon to stop by SIGTERM, and waits.
func (d *Daemon) Terminate() {
	d.tb.Helper()
	d.Signal(syscall.SIGTERM)
	d.WantCleanEnd()
}

// WaitTip waits until the tip is the given block and, with index, the filter
// index has reached it.
func (d *Daemon) WaitTip(hash string, height int32, index bool) {
	d.tb.Helper()
	if err := replay.WaitTip(d.tb.Context(), d.Client, hash, height, index); err != nil {
		d.tb.Fatalf("%v\nlog:\n%s", err, d.LogTail())
	}
}

// Log returns what the daemon has logged.
func (d *Daemon) Log() string {
	text, err := os.ReadFile(filepath.Join(d.NetDir, "debug.log"))
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

// LogTail returns the last lines of the log.
func (d *Daemon) LogTail() string {
	const shown = 30
	lines := strings.Split(strings.TrimSpace(d.Log()), "\n")
	return strings.Join(lines[max(0, len(lines)-shown):], "\n")
}

// FreeAddr returns an address of this machine, host:port, that nobody listens on for now. Its port
// is any, but none that the system gives to connections, which other tests make meanwhile.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	const first, count, tries = 10_000, 22_000, 100
	var err error
	for range tries {
		port := first + rand.IntN(count) //nolint:gosec // any will do
		if port == 10_080 {              // which browsers refuse
			continue
		}
		addr := "127.0.0.1:" + strconv.Itoa(port)
		var l net.Listener
		if l, err = new(net.ListenConfig).Listen(tb.Context(), "tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	tb.Fatalf("no port is free: %v", err)
	return ""
}
