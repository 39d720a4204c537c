package walletrpc_test

import (
	"testing"

	"github.com/seed61375155/trawl/messages"
)

// The parts of a migrated wallet; parts that do not exist are left out.
func TestMigrated(t *testing.T) {
	r := newRig(t)
	for _, test := range []struct {
		got  messages.WalletMigrated
		want string
	}{
		{
			messages.WalletMigrated{Name: "w", WatchOnly: "w_watchonly", Solvables: "w_solvables", BackupPath: "/b"},
			`{"wallet_name":"w","watchonly_name":"w_watchonly","solvables_name":"w_solvables","backup_path":"/b"}`,
		},
		{messages.WalletMigrated{BackupPath: "/b"}, `{"wallet_name":"","backup_path":"/b"}`},
	} {
		gives[messages.MigrateWallet](r.registry, test.got, nil)
		if got := r.call(nil, "migratewallet", `["w"]`); got != test.want {
			t.Errorf("got %s", got)
		}
	}
}
