package bench

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

const (
	// p2mrKeys is how many keys the wallet of these benchmarks has.
	p2mrKeys = 1_000

	// p2mrInputs is how many inputs are signed at a time.
	p2mrInputs = 16
)

var errNotSigned = errors.New("not signed")

// BenchmarkP2MRRestore restores a wallet of 1,000 keys of P2MR over HTTP, until it
// has answered for its addresses, and unloads it; with checked, until its private
// keys have been checked too. With QBITD in the environment that does the same.
func BenchmarkP2MRRestore(b *testing.B) {
	backup := p2mrBackup(b)
	for _, checked := range []bool{false, true} {
		b.Run(fmt.Sprintf("checked=%v", checked), func(b *testing.B) {
			competeWithQbit(b, func(b *testing.B, binary string, args ...string) *contender {
				b.Helper()
				dir := b.TempDir()
				p := p2mrNode(b, binary, dir, args...)
				return &contender{run: func() error {
					if err := os.RemoveAll(filepath.Join(dir, "regtest", "wallets", "w")); err != nil {
						return err
					}
					if err := p.Call(b.Context(), nil, "restorewallet", "w", backup); err != nil {
						return err
					}
					if err := p.waitKeys(b, checked); err != nil {
						return err
					}
					return p.Call(b.Context(), nil, "unloadwallet", "w")
				}}
			})
		})
	}
}

// BenchmarkP2MRSign signs a transaction with 16 inputs of as many keys over HTTP.
func BenchmarkP2MRSign(b *testing.B) {
	backup := p2mrBackup(b)
	competeWithQbit(b, func(b *testing.B, binary string, args ...string) *contender {
		b.Helper()
		p := p2mrNode(b, binary, b.TempDir(), args...)
		p.must(b, nil, "restorewallet", "w", backup)
		if err := p.waitKeys(b, true); err != nil {
			b.Fatal(err)
		}
		txid := strings.Repeat("01", 32)
		var inputs, coins []any
		for i := range p2mrInputs {
			var address string
			var shown struct {
				Script string `json:"scriptPubKey"`
			}
			p.must(b, &address, "getnewaddress")
			p.must(b, &shown, "validateaddress", address)
			inputs = append(inputs, map[string]any{"txid": txid, "vout": i})
			coins = append(coins, map[string]any{"txid": txid, "vout": i, "scriptPubKey": shown.Script, "amount": 1})
		}
		var unsigned string
		p.must(b, &unsigned, "createrawtransaction", inputs, []any{map[string]any{"data": "00"}})
		return &contender{run: func() error {
			var signed struct {
				Complete bool `json:"complete"`
			}
			if err := p.Call(b.Context(), &signed, "signrawtransactionwithwallet", unsigned, coins); err != nil {
				return err
			}
			if !signed.Complete {
				return errNotSigned
			}
			return nil
		}}
	})
}

// competeWithQbit measures trawld, and qbitd where there is one.
func competeWithQbit(b *testing.B, start func(b *testing.B, binary string, args ...string) *contender) {
	b.Helper()
	all := []*contender{start(b, e2e.Program(b, "trawld"), "-dialect=qbit")}
	if rival := os.Getenv("QBITD"); rival != "" {
		all = append(all, start(b, rival))
	}
	compete(b, all...)
	b.ReportMetric(milliseconds(all[0].median()), "ms")
	if len(all) > 1 {
		b.ReportMetric(milliseconds(all[1].median()), "qbitd-ms")
		all[0].reportRatio(b, all[1], "x-qbitd")
	}
}

// p2mrNode starts a daemon without blocks.
func p2mrNode(b *testing.B, binary, dir string, args ...string) *peer {
	b.Helper()
	port := freePort(b)
	all := append([]string{
		"-regtest", "-datadir=" + dir, "-rpcport=" + port, "-rpcuser=bench", "-rpcpassword=bench", "-listen=0",
		"-connect=0", "-printtoconsole=0", fmt.Sprintf("-keypool=%d", p2mrKeys/2),
	}, args...)
	program := exec.Command(binary, all...)
	program.Stderr = os.Stderr
	if err := program.Start(); err != nil {
		b.Fatal(err)
	}
	p := &peer{Client: jsonrpc.New(net.JoinHostPort("127.0.0.1", port), login)}
	b.Cleanup(func() { p.end(b, program) })
	p.waitStarted(b)
	return p
}

// p2mrBackup makes the wallet and returns the path of its backup.
func p2mrBackup(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "backup.dat")
	p := p2mrNode(b, e2e.Program(b, "trawld"), b.TempDir(), "-dialect=qbit")
	p.must(b, nil, "createwallet", "made")
	p.must(b, nil, "keypoolrefill")
	p.must(b, nil, "backupwallet", path)
	return path
}

// waitKeys asks for the state of the wallet, until its keys have been checked if
// that is wanted.
func (p *peer) waitKeys(b *testing.B, checked bool) error {
	b.Helper()
	for {
		var info struct {
			Validation struct {
				Blocked bool `json:"signing_blocked"`
			} `json:"pqc_key_validation"`
		}
		if err := p.Call(b.Context(), &info, "getwalletinfo"); err != nil {
			return err
		}
		if !checked || !info.Validation.Blocked {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
}
