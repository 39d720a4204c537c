package main

import (
	"context"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
)

// The limits of the pool depend on the version of Core that is spoken as. Words are Core's.
func TestPoolLimits(t *testing.T) {
	const (
		replaced = "size limits have been replaced with cluster size limits (see -limitclustersize). " +
			"This option has no effect.\n"
		ancestors   = "Warning: Option '-limitancestorsize' is given but ancestor " + replaced
		descendants = "Warning: Option '-limitdescendantsize' is given but descendant " + replaced
	)
	for _, test := range []struct {
		args   string
		stderr string
		count  int64 // 0: of no cluster
		vsize  int64 // 0: of no cluster
	}{
		{"-core=30 -maxmempool=4", "Error: -maxmempool must be at least 5 MB\n", 0, 0},
		{"-core=30 -maxmempool=5 -limitclustersize=200 -limitclustercount=99", "", 0, 0},
		{"-core=30 -maxmempool=5 -limitdescendantsize=200", "Error: -maxmempool must be at least 8 MB\n", 0, 0},
		{"-core=32 -maxmempool=4", "Error: -maxmempool must be at least 5 MB\n", 0, 101_000},
		{"-core=32 -maxmempool=5", "", 0, 101_000},
		{"-core=30 -maxmempool=0", "Error: -maxmempool must be at least 5 MB\n", 0, 0},
		{"-core=32 -maxmempool=0", "", 0, 101_000},
		{"-core=32 -maxmempool=-1", "Error: -maxmempool must be at least 5 MB\n", 0, 101_000},
		{"-core=32 -maxmempool=7 -limitclustersize=200", "Error: -maxmempool must be at least 8 MB\n", 0, 200_000},
		{"-core=32 -maxmempool=8 -limitclustersize=200 -limitclustercount=64", "", 64, 200_000},
		{"-core=32 -maxmempool=1 -limitclustersize=12 -limitclustercount=1", "", 1, 12_000},
		{"-core=32 -limitclustercount=65", "Error: limitclustercount must be less than or equal to 64\n", 0, 0},
		{"-core=32 -limitclustercount=-1", "Error: limitclustercount must be less than or equal to 64\n", 0, 0},
		{"-core=32 -maxmempool=5 -limitdescendantsize=200", descendants, 0, 101_000},
		{"-core=32 -limitancestorsize=1 -limitdescendantsize=200", ancestors + descendants, 0, 101_000},
		{"-core=32 -prevoutfetchthreads=0", "", 0, 101_000},
		{
			"-core=32 -prevoutfetchthreads=-1",
			"Error: -prevoutfetchthreads must be non-negative (got -1). Use 0 to disable parallel input fetching.\n",
			0, 101_000,
		},
	} {
		var got trawl.MempoolConfig
		read := func(_ context.Context, s *session) (err error) {
			if got, err = mempoolConfig(s.settings); err == nil {
				err = checkFetchThreads(s.settings)
			}
			return err
		}
		status, stderr, _ := startWith(t, read, strings.Fields(test.args)...)
		if stderr != test.stderr || (status != 0) != strings.HasPrefix(test.stderr, "Error") {
			t.Errorf("%s: %d, %q, want %q", test.args, status, stderr, test.stderr)
		}
		if (got.Cluster == nil) != (test.count == 0) || got.Cluster != nil && *got.Cluster != test.count {
			t.Errorf("%s: clusters of %v, want %d", test.args, got.Cluster, test.count)
		}
		size := got.ClusterVSize
		if (size == nil) != (test.vsize == 0) || size != nil && *size != test.vsize {
			t.Errorf("%s: clusters of %v bytes, want %d", test.args, got.ClusterVSize, test.vsize)
		}
	}
}
