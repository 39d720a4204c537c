package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completionTests are typed lines and some of the words that are offered; a word with a
// dash before it must not be offered, unless it is an option that begins with -rpc.
var completionTests = []struct{ typed, offered string }{
	{"trawl-cli getblockc", "getblockcount -getblockhash"},
	{"trawl-cli ", "scanblocks help stop -echo"},
	{"trawl-cli -regtest getblockh", "getblockhash getblockheader -getblock"},
	{"trawl-cli -rpcw", "-rpcwait -rpcwaittimeout= -rpcwallet="},
	{"trawl-cli help scanb", "scanblocks"},
	{"trawl-cli -named getblockhash ", "height="},
	{"trawl-cli -named scanblocks f", "filtertype= filter_false_positives="},
	{"trawl-cli -named scanblocks action=start st", "start_height= stop_height="},
	{"trawl-cli getblockhash ", ""},
	{"trawl-cli -named getblockhash height=", ""},
	{"trawld -rpcu", "-rpcuser= -rpcunix="},
	{"trawld -regtest -rpcthr", "-rpcthreads="},
	{"trawld -rpcw", "-rpcwhitelist= -rpcwhitelistdefault --rpcwallet="},
	{"trawl-wallet -regtest -du", "-dumpfile="},
	{"trawl-wallet -wallet=w creat", "create createfromdump -info"},
	{"trawl-load -rpcc", "-rpcclienttimeout= -rpcconnect= -rpccookiefile="},
}

// offers checks one completion.
func offers(t *testing.T, typed, output, want string) {
	t.Helper()
	got := strings.Fields(output)
	if want == "" && len(got) > 0 {
		t.Errorf("%q offers %q", typed, got)
	}
	for word := range strings.FieldsSeq(want) {
		unwanted, isUnwanted := strings.CutPrefix(word, "-")
		if isUnwanted && !strings.HasPrefix(unwanted, "rpc") {
			if slices.Contains(got, unwanted) {
				t.Errorf("%q offers %q", typed, unwanted)
			}
		} else if !slices.Contains(got, word) {
			t.Errorf("%q offers %q, not %s", typed, got, word)
		}
	}
}

// script writes the script of a shell to a file.
func script(t *testing.T, shell string) string {
	t.Helper()
	r := cli(t, "", "-completion="+shell)
	r.want(t, 0, r.out, "")
	if strings.Contains(r.out, "@") && shell == "fish" {
		t.Errorf("something is missing in %s", r.out)
	}
	path := filepath.Join(t.TempDir(), "_trawl-cli")
	if err := os.WriteFile(path, []byte(r.out), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// program finds a shell. `make test-packages` installs those that a machine may not have.
func program(t *testing.T, shell string) string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil && os.Getenv("TRAWL_PACKAGES") != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("there is no " + shell + ": make test-packages")
	}
	return path
}

func TestBashCompletion(t *testing.T) {
	bash := program(t, "bash")
	path := script(t, "bash")
	const complete = `source "$1"; COMP_LINE=$2; COMP_POINT=${#2}
case $2 in
trawld*) _trawld ;; trawl-load*) _trawl_load ;; trawl-wallet*) _trawl_wallet ;; *) _trawl_cli ;;
esac
printf '%s\n' "${COMPREPLY[@]}"`
	tests := append(completionTests[:len(completionTests):len(completionTests)],
		// behind an equals sign, where bash begins a new word
		struct{ typed, offered string }{"trawl-cli -chain=te", "test testnet4"},
		struct{ typed, offered string }{"trawld -chain=te", "test testnet4"},
		struct{ typed, offered string }{"trawl-load -chain=s", "signet -main"},
		struct{ typed, offered string }{"trawl-cli -color=", "always auto never"},
		struct{ typed, offered string }{"trawl-cli -completion=z", "zsh"},
		struct{ typed, offered string }{"trawl-cli -conf=" + path, path},
	)
	for _, test := range tests {
		output, err := exec.CommandContext(
			t.Context(), bash, "--norc", "-c", complete, "bash", path, test.typed,
		).CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v: %s", test.typed, err, output)
		}
		offers(t, test.typed, string(output), test.offered)
	}
}

// The syntax of the scripts for shells that not every machine has.
func TestOtherShells(t *testing.T) {
	for _, shell := range []string{"zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path := script(t, shell)
			cmd := exec.CommandContext(t.Context(), program(t, shell), "-n", path)
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
}

func TestFishCompletion(t *testing.T) {
	fish := program(t, "fish")
	path := script(t, "fish")
	for _, test := range completionTests {
		cmd := exec.CommandContext(t.Context(), fish, "--no-config", "-c", `source $argv[1]; complete -C $argv[2]`, path, test.typed)
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v: %s", test.typed, err, output)
		}
		offers(t, test.typed, string(output), test.offered)
	}
}

// Zsh's own commands for offering words work in its line editor alone: here they print.
func TestZshCompletion(t *testing.T) {
	zsh := program(t, "zsh")
	path := script(t, "zsh")
	const complete = `compdef() { defined=("$@") }
compset() { PREFIX=${PREFIX#*=} }
_files() { print -l -- $PREFIX*(N) }
compadd() {
	local suffix=
	if [[ $1 == -S ]]; then suffix=$2; shift 2; fi
	if [[ $1 == -- ]]; then shift; fi
	local -a all=("${@/%/$suffix}")
	print -l -- ${(M)all:#$PREFIX*}
}
source "$1"
words=(${=2})
[[ $2 == *" " ]] && words+=("")
[[ -n ${defined[(r)$words[1]]} ]] || exit 1
service=$words[1] CURRENT=$#words PREFIX=$words[-1]
$defined[1]`
	tests := append(completionTests[:len(completionTests):len(completionTests)],
		struct{ typed, offered string }{"trawl-cli -chain=te", "test testnet4"},
		struct{ typed, offered string }{"trawl-load -chain=te", "test testnet4 -main"},
		struct{ typed, offered string }{"trawld-qbit -conf=" + path, path},
	)
	for _, test := range tests {
		output, err := exec.CommandContext(
			t.Context(), zsh, "-f", "-c", complete, "zsh", path, test.typed,
		).CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v: %s", test.typed, err, output)
		}
		offers(t, test.typed, string(output), test.offered)
	}
}

// document is what is needed of the daemon's own description of its methods.
type document struct {
	Methods []struct {
		Name   string
		Params []struct {
			Name    string
			Aliases []string `json:"x-aliases"`
			Schema  schema
		}
	}
}

type schema struct {
	Type       string
	AnyOf      []schema
	Properties map[string]schema
	ByName     bool `json:"x-also-by-name"`
}

// suits reports whether a word in some form can become what the schema wants.
func (s *schema) suits(f form) bool {
	switch {
	case s.Type == "string":
		return f == asString
	case s.Type == "" && len(s.AnyOf) == 0: // the method looks itself
		return true
	default:
		return f == asJSON
	}
}

// The client turns words into what the daemon's methods take.
func TestConversionSuitsDaemon(t *testing.T) {
	text, err := os.ReadFile("../../docs/openrpc.json")
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Methods {
		if m.Name == "echojson" || m.Name == "echo" { // the one is there to try JSON, the other strings
			continue
		}
		for place, p := range m.Params {
			for _, name := range append(p.Aliases, p.Name) {
				if !p.Schema.suits(formOfName(m.Name, name)) {
					t.Errorf("%s %s is not converted as %s: see its line in parameters.go", m.Name, name, p.Schema.Type)
				}
			}
			if !p.Schema.suits(formOf(m.Name, place)) {
				t.Errorf("%s argument %d is not converted as %s: see its line in parameters.go", m.Name, place+1, p.Schema.Type)
			}
			for name, inner := range p.Schema.Properties {
				if p.Schema.ByName && !inner.suits(formOfName(m.Name, name)) {
					t.Errorf("%s %s is not converted as %s: see its line in parameters.go", m.Name, name, inner.Type)
				}
			}
		}
	}
}
