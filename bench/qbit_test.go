package bench

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// recordedBlocks is how many blocks the recorded P2MR chain has after the first.
const recordedBlocks = 1055

// BenchmarkP2MRImport has a new trawld load the recorded chain of 1,056 blocks with
// 60 spends, 6 of its blocks merge-mined, from start to end of the process. With
// QBITD=/path/to/qbitd in the environment that does the same.
func BenchmarkP2MRImport(b *testing.B) {
	chain := recordedChain(b)
	ours := importing(b, e2e.Program(b, "trawld"), chain, "-dialect=qbit")
	all := []*contender{ours}
	if rival := os.Getenv("QBITD"); rival != "" {
		all = append(all, importing(b, rival, chain, "-checkblockindex=0"))
	}
	compete(b, all...)
	b.ReportMetric(milliseconds(ours.median()), "ms")
	b.ReportMetric(recordedBlocks/ours.median().Seconds(), "blocks/s")
	if len(all) > 1 {
		b.ReportMetric(milliseconds(all[1].median()), "qbitd-ms")
		ours.reportRatio(b, all[1], "x-qbitd")
	}
}

// recordedChain unpacks the chain.
func recordedChain(b *testing.B) string {
	b.Helper()
	packed, err := os.Open(filepath.FromSlash("../internal/engine/qbit/testdata/chain.dat.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "chain.dat")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if _, err := io.Copy(file, r); err != nil {
		b.Fatal(err)
	}
	return path
}

// importing runs a daemon on a new folder until it has read the chain.
func importing(b *testing.B, binary, chain string, args ...string) *contender {
	b.Helper()
	return &contender{run: func() error {
		all := append([]string{
			"-regtest", "-datadir=" + b.TempDir(), "-loadblock=" + chain, "-stopafterblockimport", "-listen=0", "-connect=0",
			"-server=0", "-disablewallet", "-printtoconsole=0",
		}, args...)
		if out, err := exec.CommandContext(b.Context(), binary, all...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", binary, err, out)
		}
		return nil
	}}
}

// keysDerived is how many keys are derived at a time.
const keysDerived = 64

// BenchmarkP2MRKeys derives 64 addresses of P2MR keys over HTTP, others each round.
// The reference uses one core.
func BenchmarkP2MRKeys(b *testing.B) {
	ours := derivingP2MR(b, e2e.Program(b, "trawld"), "-dialect=qbit")
	all := []*contender{ours}
	if rival := os.Getenv("QBITD"); rival != "" {
		all = append(all, derivingP2MR(b, rival))
	}
	compete(b, all...)
	b.ReportMetric(milliseconds(ours.median())/keysDerived, "ms/key")
	if len(all) > 1 {
		b.ReportMetric(milliseconds(all[1].median())/keysDerived, "qbitd-ms/key")
		ours.reportRatio(b, all[1], "x-qbitd")
	}
}

// derivingP2MR asks a daemon that it starts.
func derivingP2MR(b *testing.B, binary string, args ...string) *contender {
	b.Helper()
	p := p2mrNode(b, binary, b.TempDir(), append(args, "-disablewallet")...)
	var info struct {
		Checksum string `json:"checksum"`
	}
	text := "mr(pk(pqc(" + p2mrMaster + "/87h/1h/0h/0/*)))"
	p.must(b, &info, "getdescriptorinfo", text)
	round := 0
	return &contender{run: func() error {
		var addresses []string
		first := round * keysDerived
		round++
		return p.Call(
			b.Context(), &addresses, "deriveaddresses", text+"#"+info.Checksum, []int{first, first + keysDerived - 1},
		)
	}}
}

// p2mrMaster is the master key of the seed 000102030405060708090a0b0c0d0e0f.
const p2mrMaster = "qrpvV1brS3WRoVwgTRUmDuJCX1t2rjaSWyE4sXWNuUs4ajSe8CP4YJjStqVvs59dz8bJLEyaG8CJ8g3kD1jBk3sN73ovK4vkkenmvpX4D8SJoP1"
