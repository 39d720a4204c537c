package differ

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/internal/e2e/replay"
)

// startLimit is how long a node may take until it answers.
const startLimit = 2 * time.Minute

// Config says how a pair of nodes is started.
type Config struct {
	Args  []string // options of both
	Trawl []string // options of trawld alone
	Core  []string // options of bitcoind alone

	// Peers: both accept peers, at Pair.Trawl.P2P and Pair.CoreP2P.
	Peers bool

	// Later: beside the bitcoind of Bitcoin Core 31 or 32 that BITCOIND32 names.
	Later bool

	// Qbit: on a chain of P2MR outputs, beside the qbitd that QBITD names.
	Qbit bool
}

// rival returns what runs beside trawld, empty where there is none, and what the test lacks then.
func (c *Config) rival() (binary, lacks string) {
	if c.Qbit {
		return os.Getenv("QBITD"), "QBITD names no qbitd of qbit 1.0"
	}
	if c.Later {
		return os.Getenv("BITCOIND32"), "BITCOIND32 names no bitcoind of Bitcoin Core 31 or 32"
	}
	return os.Getenv("BITCOIND"), "BITCOIND names no bitcoind of Bitcoin Core 30"
}

// repeats reports whether all that happens to both is by the requests of the test, so that a recording can be played.
func (c *Config) repeats() bool { return !c.Qbit && !c.Peers && !c.Later }

// A Pair is a trawld and a bitcoind with the same options, each on an empty
// regtest of its own. They end with the test.
type Pair struct {
	Trawl   *e2e.Daemon
	Core    *jsonrpc.Client
	CoreDir string // bitcoind's data directory
	CoreP2P string // host:port for peers; empty: none
	Later   bool   // the bitcoind is of version 31 or 32, and trawld speaks as 32

	Report *Report

	tb     testing.TB
	config Config
	core   *e2e.Process

	address string // of the bitcoind that runs
}

// Start starts a pair. Without a bitcoind its answers are those that were recorded; it skips
// the test where there is neither.
func Start(tb testing.TB, c Config, exceptions ...Exception) *Pair {
	tb.Helper()
	binary, lacks := c.rival()
	var tape *replay.Tape
	switch {
	case c.repeats():
		if !replay.Live() {
			e2e.SkipUnderRace(tb, "recordings are played without it")
		}
		tape = replay.Open(tb)
	case binary == "":
		tb.Skip(lacks)
	}
	if tape != nil {
		c.Args = append(slices.Clip(c.Args), "-mocktime="+strconv.FormatInt(recordedTime, 10))
	}
	p := &Pair{tb: tb, config: c, CoreDir: tb.TempDir(), Report: NewReport(tb, exceptions...)}
	trawl := e2e.Config{
		Chain: "regtest",
		// Core accepts empty outputs, which trawld refuses without this option.
		Args: append(append([]string{"-deprecatedrpc=emptyoutputs"}, c.Args...), c.Trawl...),
	}
	if c.Qbit {
		trawl.Args = append(trawl.Args, "-dialect=qbit")
	} else {
		reference := "30"
		if p.Later = isLater(tb, binary); p.Later {
			reference = "32"
		}
		trawl.Args = append(trawl.Args, "-core="+reference)
	}
	if c.Peers {
		trawl.P2P, p.CoreP2P = e2e.FreeAddr(tb), e2e.FreeAddr(tb)
	}
	if binary != "" {
		p.startCore(binary)
	}
	if tape != nil {
		p.insert(tape)
	}
	p.Trawl = e2e.Start(tb, trawl)
	return p
}

var versionForm = regexp.MustCompile(`version v(\d+)\.`)

// isLater reports whether a bitcoind is later than Core 30. Without a bitcoind the recordings answer, which are of
// Core 30.2.
func isLater(tb testing.TB, binary string) bool {
	tb.Helper()
	if binary == "" {
		return false
	}
	text, err := exec.CommandContext(tb.Context(), binary, "-version").Output()
	if err != nil {
		tb.Fatal(err)
	}
	found := versionForm.FindSubmatch(text)
	if found == nil {
		tb.Fatalf("%s says no version: %.100s", binary, text)
	}
	const last = 30
	major, err := strconv.Atoi(string(found[1]))
	return err == nil && major > last
}

// KillCore ends the bitcoind at once.
func (p *Pair) KillCore() { p.core.Kill() }

// RestartCore starts the bitcoind again on its data directory, after it was killed.
func (p *Pair) RestartCore() {
	p.tb.Helper()
	_ = os.Remove(p.cookie()) // of the killed process
	binary, _ := p.config.rival()
	p.Core = nil
	p.startCore(binary)
}

// insert has a tape answer in the place of bitcoind.
func (p *Pair) insert(tape *replay.Tape) {
	p.tb.Helper()
	login := "user:password"
	if p.Core != nil {
		text, err := os.ReadFile(p.cookie())
		if err != nil {
			p.tb.Fatal(err)
		}
		login = string(text)
		tape.Connect(p.address)
	}
	tape.Dir = p.CoreDir
	p.Core = jsonrpc.New(tape.Listen(p.tb), login)
	p.tb.Cleanup(p.Core.Close)
}

func (p *Pair) cookie() string { return filepath.Join(p.CoreDir, "regtest", ".cookie") }

// startCore starts bitcoind and waits until it answers.
func (p *Pair) startCore(binary string) {
	p.tb.Helper()
	addr := e2e.FreeAddr(p.tb)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		p.tb.Fatal(err)
	}
	args := []string{
		"-regtest", "-datadir=" + p.CoreDir, "-rpcport=" + port, "-printtoconsole=0", "-dnsseed=0", "-fixedseeds=0",
		"-listenonion=0", "-natpmp=0", "-connect=0",
		// An assertion of Core's own fails after some changes of the chain by hand.
		"-checkblockindex=0",
	}
	if p.CoreP2P == "" {
		args = append(args, "-listen=0")
	} else {
		args = append(args, e2e.PeerArgs(p.CoreP2P)...)
	}
	args = append(append(args, p.config.Args...), p.config.Core...)
	p.core = e2e.Run(p.tb, binary, args...)
	p.address = addr
	e2e.Eventually(p.tb, startLimit, "bitcoind answers", func() bool {
		return p.core.HasEnded() || p.coreAnswers()
	})
	if p.Core == nil {
		p.tb.Fatalf("bitcoind refused to start: %v\n%s", p.core.Err(), p.core.Stderr())
	}
}

func (p *Pair) coreAnswers() bool {
	login, err := os.ReadFile(p.cookie())
	if err != nil || len(login) == 0 {
		return false
	}
	client := jsonrpc.New(p.address, string(login))
	if err := client.Call(p.tb.Context(), nil, "getblockcount"); err != nil {
		client.Close()
		return false
	}
	p.Core = client
	p.tb.Cleanup(client.Close)
	return true
}

// Alive fails the test when one of the nodes has ended.
func (p *Pair) Alive() {
	p.tb.Helper()
	for name, client := range p.clients() {
		if err := client.Call(p.tb.Context(), nil, "uptime"); err != nil {
			p.tb.Fatalf("%s does not answer any more: %v\nlog of trawld:\n%s", name, err, p.Trawl.LogTail())
		}
	}
}

// Get calls a method of both that has to succeed on both, and returns bitcoind's
// result in result. The replies are not compared.
func (p *Pair) Get(result any, method string, params ...any) {
	p.tb.Helper()
	p.Trawl.Get(nil, method, params...)
	if err := p.Core.Call(p.tb.Context(), result, method, params...); err != nil {
		p.tb.Fatalf("bitcoind: %s %.200s: %v", method, fmt.Sprint(params...), err)
	}
}

func (p *Pair) clients() map[string]*jsonrpc.Client {
	return map[string]*jsonrpc.Client{"trawld": p.Trawl.Client, "bitcoind": p.Core}
}
