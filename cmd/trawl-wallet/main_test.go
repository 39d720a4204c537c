package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runMark is the variable by which this test's program is trawl-wallet.
const runMark = "TRAWL_WALLET_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runMark) != "" {
		main()
	}
	os.Exit(m.Run())
}

// place is a data directory of a regtest.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t, t.TempDir()}
	if err := os.MkdirAll(p.wallets(), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) wallets() string { return filepath.Join(p.dir, "regtest", "wallets") }

func (p *place) file(name string) string { return filepath.Join(p.wallets(), name, "wallet.dat") }

// result is what a run has printed, and its exit status.
type result struct {
	out, err string
	status   int
}

func (p *place) run(args ...string) result {
	p.t.Helper()
	var out, failed bytes.Buffer
	common := []string{"-datadir=" + p.dir, "-chain=regtest"}
	if !slices.Contains(args, "-dialect=qbit") {
		common = append(common, "-core=30")
	}
	args = append(common, args...)
	status := run(args, &streams{&out, &failed, p.dir})
	return result{out.String(), failed.String(), status}
}

// want checks a run of the program.
func (p *place) want(want result, args ...string) {
	p.t.Helper()
	if got := p.run(args...); got != want {
		p.t.Errorf("%q: got  %+v\nwant %+v", args, got, want)
	}
}

// recorded places a backup of Bitcoin Core as a wallet.
func (p *place) recorded(name string) {
	p.t.Helper()
	packed, err := os.Open(filepath.Join("../../store/walletdb/testdata/backups", name+".dat.gz"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		p.t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(filepath.Join("regtest", "wallets", name, "wallet.dat"), content)
}

// write writes a file in the data directory and returns its path.
func (p *place) write(name string, content []byte) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *place) read(path string) []byte {
	p.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	return content
}

// absent checks that a wallet has left nothing.
func (p *place) absent(name string) {
	p.t.Helper()
	if _, err := os.Lstat(filepath.Join(p.wallets(), name)); err == nil {
		p.t.Errorf("%s is there", name)
	}
}

func failed(text string) result { return result{err: text + "\n", status: exitFailure} }

// Wrong command lines are refused in Core's words.
func TestCommandLines(t *testing.T) {
	p := newPlace(t)
	const parsing = "Error parsing command line arguments: "
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"foo"}, parsing + "Invalid command 'foo'"},
		{[]string{"help"}, parsing + "Invalid command 'help'"},
		{[]string{"-foo"}, parsing + "Invalid parameter -foo"},
		{[]string{"-descriptors", "-wallet=w", "create"}, parsing + "Invalid parameter -descriptors"},
		{[]string{"-legacy", "-wallet=w", "create"}, parsing + "Invalid parameter -legacy"},
		{[]string{"-nodumpfile", "dump"}, parsing + "Negating of -dumpfile is meaningless and therefore forbidden"},
		{nil, "No method provided. Run `bitcoin-wallet -help` for valid methods."},
		{
			[]string{"info", "create", "x"},
			"Error: Additional arguments provided (create, x). Methods do not take arguments. Please refer to `-help`.",
		},
		{[]string{"create"}, "Wallet name must be provided when creating a new wallet."},
		{[]string{"-core=32", "createfromdump"}, "Wallet name must be provided when creating a new wallet."},
		{[]string{"-core=32", "-wallet=", "create"}, "Wallet name cannot be empty"},
		{[]string{"-core=x", "info"}, "Error: Invalid value for -core: 'x'. It is 30 or 32."},
		{[]string{"-core=31", "info"}, "Error: Invalid value for -core: '31'. It is 30 or 32."},
		{
			[]string{"-core=32", "-dialect=qbit", "info"},
			"Error: a version of Bitcoin Core can be chosen for Bitcoin's networks only",
		},
		{
			[]string{"-wallet=w", "-dumpfile=d", "create"},
			"Error: Invalid arguments provided:\n- The -dumpfile option cannot be used with the 'create' command.",
		},
		{
			[]string{"-wallet=nonexistent.dat", "info"},
			"Failed to load database path '" + p.wallets() + "/nonexistent.dat'. Path does not exist.",
		},
		{[]string{"-wallet=../w", "create"}, "Wallet name given as a relative path cannot begin with ./ or ../, for wallets " +
			"not in the walletdir, please use an absolute path."},
		{[]string{"-wallet=a/../w", "create"}, "Wallet name given as a path must be normalized"},
		{[]string{"-chain=none", "-wallet=w", "info"}, "Error: Unknown chain none."},
		{[]string{"-datadir=" + p.dir + "/no", "info"}, "Error: Specified data directory \"" + p.dir + "/no\" does not exist."},
	} {
		p.want(failed(test.want), test.args...)
	}
	if got := p.run("-dialect=qbit"); got.err != "No method provided. Run `qbit-wallet -help` for valid methods.\n" {
		t.Errorf("qbit: %q", got.err)
	}
}

func TestHelp(t *testing.T) {
	var out, failed bytes.Buffer
	std := &streams{&out, &failed, t.TempDir()}
	if got := run(nil, std); got != exitFailure || failed.String() != "Error: too few parameters\n" {
		t.Errorf("nothing given: %d, %s", got, failed.String())
	}
	for _, want := range []string{"Trawl wallet tool version ", "\nUsage: trawl-wallet [options] <command>\n", "\n  -dumpfile=<file>\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	out.Reset()
	if got := run([]string{"-version"}, std); got != 0 || strings.Contains(out.String(), "Usage") ||
		!strings.HasPrefix(out.String(), "Trawl wallet tool version ") {
		t.Errorf("version: %d, %s", got, out.String())
	}
	for command := range commands {
		out.Reset()
		status := run([]string{"-help", command}, std)
		if status != 0 || !strings.Contains(out.String(), "\n  "+command+" ") {
			t.Errorf("%s: %d, %s", command, status, out.String())
		}
	}
}
