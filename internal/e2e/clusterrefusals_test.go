package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/synth"
)

// Three worker nodes refuse, each sound by itself: the first is 500 blocks behind, the second is on another branch,
// the third has a single filter that differs. The coordinator lists their reasons by address. The others work, and
// the result equals a lone node's.
func TestClusterRefusesOthers(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	const behind = 500
	refusals := make(map[string]string) // by address
	at := make([]string, 3)
	var nodes []string
	for i, why := range []string{
		"it does not know the last block", "it has no filters of that chain", "its filters are others",
	} {
		at[i] = e2e.FreeAddr(t)
		refusals[at[i]] = why
		nodes = append(nodes, "-clusternode="+at[i])
	}
	l := newLongCluster(t, 1, nodes...)
	cluster := func(i int) []string {
		return append([]string{"-clusterlisten=" + at[i], "-clustersecret=" + l.secret}, slow...)
	}
	short := synth.Chain{Seed: 21, Blocks: l.blocks - ownBlocks - behind, Outputs: clusterOutputs}
	l.loaded("", writeChain(t, t.TempDir(), short), short.Blocks, cluster(0)...)
	l.differ(l.node(cluster(1)...))
	var hash string
	l.lone.Get(&hash, "getblockhash", 700)
	const build = "	filter, err = m.builder.BuildBlock("
	program := otherVersion(t, change{
		"actors/indexer/batch.go", build,
		fmt.Sprintf("if hash.String() == %q { spent = append(spent, []byte{0x51, 0x52}) }\n%s", hash, build),
	})
	l.finish(l.loaded(program, l.file, l.blocks-ownBlocks, cluster(2)...))
	l.up(4)
	objects := append(manyScripts(rand.New(rand.NewPCG(5, 5)), 8_000), "raw(51)")
	for _, check := range []bool{false, true} {
		l.same("a scan beside three that refuse", scanner(objects, 0, l.blocks, map[string]bool{"filter_false_positives": check}))
	}
	e2e.Eventually(t, time.Minute, "all have refused", func() bool { return l.refusals() == len(at) })
	for _, m := range l.info().Members {
		why, refuses := refusals[m.Address]
		if refuses != (m.Units == 0) || !strings.Contains(m.Refusal, why) {
			t.Errorf("%+v, want %q", m, why)
		}
	}
}

// refusals is how many worker nodes have refused.
func (l *longCluster) refusals() (n int) {
	l.Helper()
	for _, m := range l.info().Members {
		if m.Refusal != "" {
			n++
		}
	}
	return n
}
