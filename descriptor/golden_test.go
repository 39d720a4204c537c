package descriptor_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

var (
	mainNet = descriptor.NetworkOf(&chaincfg.MainNetParams)
	regtest = descriptor.NetworkOf(&chaincfg.RegressionNetParams)
)

// golden is a recorded call of a Bitcoin Core 30.2 node.
type golden struct {
	Name     string
	Request  string
	Response string
	Tags     []string
}

// request is the body of a golden call. Cases about the number, the types and
// the names of parameters belong to the RPC layer.
type request struct {
	Method string
	Params []json.RawMessage
}

// TestGolden answers recorded getdescriptorinfo and deriveaddresses calls.
func TestGolden(t *testing.T) {
	for file, net := range map[string]*descriptor.Network{
		"testdata/regtest.jsonl.gz": regtest,
		"testdata/main.jsonl.gz":    mainNet,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			played := 0
			for g := range readGolden(t, file) {
				if playGolden(t, g, net) {
					played++
				}
			}
			if played < 800 {
				t.Errorf("played only %d cases", played)
			}
		})
	}
}

func readGolden(tb testing.TB, file string) func(yield func(golden) bool) {
	tb.Helper()
	packed, err := os.Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { packed.Close() })
	plain, err := gzip.NewReader(packed)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 4<<20)
	return func(yield func(golden) bool) {
		for lines.Scan() {
			var g golden
			if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
				tb.Fatal(err)
			}
			if !yield(g) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			tb.Fatal(err)
		}
	}
}

// playGolden reports whether the case is one of this package.
func playGolden(t *testing.T, g golden, net *descriptor.Network) bool {
	t.Helper()
	var req request
	if strings.HasPrefix(g.Name, "arity/") || strings.HasPrefix(g.Name, "named") ||
		json.Unmarshal([]byte(g.Request), &req) != nil {
		return false
	}
	var want struct {
		Result json.RawMessage
		Error  *rpcError
	}
	if err := json.Unmarshal([]byte(g.Response), &want); err != nil {
		t.Fatal(err)
	}
	result, failure := call(req, net)
	switch {
	case (failure == nil) != (want.Error == nil):
		t.Errorf("%s %s\n got %v\nwant %v", g.Name, g.Request, failure, want.Error)
	case failure != nil && *failure != *want.Error:
		t.Errorf("%s %s\n got %v\nwant %v", g.Name, g.Request, failure, want.Error)
	case failure == nil && !bytes.Equal(result, want.Result):
		t.Errorf("%s %s\n got %s\nwant %s", g.Name, g.Request, result, want.Result)
	}
	return true
}

// rpcError is the error member of a reply.
type rpcError struct {
	Code    int
	Message string
}

const (
	codeMisc      = -1
	codeAddress   = -5
	codeParameter = -8
)

// call does what the RPC methods do with this package.
func call(req request, net *descriptor.Network) (json.RawMessage, *rpcError) {
	var text string
	if err := json.Unmarshal(req.Params[0], &text); err != nil {
		return nil, &rpcError{codeMisc, err.Error()}
	}
	var reply any
	var failure *rpcError
	switch req.Method {
	case "getdescriptorinfo":
		reply, failure = descriptorInfo(text, net)
	case "deriveaddresses":
		reply, failure = deriveAddresses(text, req.Params[1:], net)
	}
	if failure != nil {
		return nil, failure
	}
	raw, err := json.Marshal(reply)
	if err != nil {
		return nil, &rpcError{codeMisc, err.Error()}
	}
	// The recordings escape nothing that JSON lets stand.
	raw = bytes.ReplaceAll(raw, []byte(`\u003c`), []byte("<"))
	return bytes.ReplaceAll(raw, []byte(`\u003e`), []byte(">")), nil
}

type infoReply struct {
	Descriptor     string   `json:"descriptor"`
	Multipath      []string `json:"multipath_expansion,omitempty"`
	Checksum       string   `json:"checksum"`
	IsRange        bool     `json:"isrange"`
	IsSolvable     bool     `json:"issolvable"`
	HasPrivateKeys bool     `json:"hasprivatekeys"`
}

func descriptorInfo(text string, net *descriptor.Network) (any, *rpcError) {
	branches, err := descriptor.Parse(text, net, descriptor.Options{})
	if err != nil {
		return nil, &rpcError{codeAddress, err.Error()}
	}
	d := branches[0]
	body, _, _ := strings.Cut(text, "#")
	sum, _ := descriptor.Checksum(body)
	reply := infoReply{d.String(), nil, sum, d.IsRanged(), d.IsSolvable(), d.HasPrivateKeys()}
	if len(branches) > 1 {
		for _, branch := range branches {
			reply.Multipath = append(reply.Multipath, branch.String())
		}
	}
	return reply, nil
}

func deriveAddresses(text string, params []json.RawMessage, net *descriptor.Network) (any, *rpcError) {
	begin, end, failure := rangeOf(params)
	if failure != nil {
		return nil, failure
	}
	branches, err := descriptor.Parse(text, net, descriptor.Options{RequireChecksum: true})
	if err != nil {
		return nil, &rpcError{codeAddress, err.Error()}
	}
	switch ranged := branches[0].IsRanged(); {
	case !ranged && len(params) > 0:
		return nil, &rpcError{codeParameter, "Range should not be specified for an un-ranged descriptor"}
	case ranged && len(params) == 0:
		return nil, &rpcError{codeParameter, "Range must be specified for a ranged descriptor"}
	}
	all := make([][]string, len(branches))
	for i, branch := range branches {
		if all[i], failure = addressesOf(branch, begin, end, net); failure != nil {
			return nil, failure
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all, nil
}

func rangeOf(params []json.RawMessage) (begin, end uint32, failure *rpcError) {
	if len(params) == 0 || string(params[0]) == "null" {
		return 0, 0, nil
	}
	malformed := &rpcError{codeParameter, "Range must be specified as end or as [begin,end]"}
	var pair []json.RawMessage
	single := json.Unmarshal(params[0], &pair) != nil
	if single {
		pair = []json.RawMessage{[]byte("0"), params[0]}
	}
	if len(pair) != 2 {
		return 0, 0, malformed
	}
	var bounds [2]int64
	for _, raw := range pair {
		if !strings.ContainsAny(string(raw[:1]), "-0123456789") {
			return 0, 0, malformed
		}
	}
	for i, raw := range pair {
		if json.Unmarshal(raw, &bounds[i]) != nil {
			return 0, 0, &rpcError{codeMisc, "JSON integer out of range"}
		}
	}
	err := descriptor.CheckRange(bounds[0], bounds[1])
	if single {
		err = descriptor.CheckRangeEnd(bounds[1])
	}
	if err != nil {
		return 0, 0, &rpcError{codeParameter, err.Error()}
	}
	return uint32(bounds[0]), uint32(bounds[1]), nil
}

func addressesOf(d *descriptor.Descriptor, begin, end uint32, net *descriptor.Network) ([]string, *rpcError) {
	var all []string
	for index := begin; index <= end; index++ {
		scripts, err := d.Expand(index)
		if err != nil {
			return nil, &rpcError{codeAddress, "Cannot derive script without private keys"}
		}
		for i, script := range scripts {
			address, ok := descriptor.AddressOf(script, net)
			if ok {
				all = append(all, address)
			} else if i > 0 || len(scripts) == 1 { // combo() has a P2PK first
				return nil, &rpcError{codeAddress, "Descriptor does not have a corresponding address"}
			}
		}
	}
	return all, nil
}

// parse reads a descriptor that must be right, and returns its first branch.
func parse(tb testing.TB, text string, net *descriptor.Network) *descriptor.Descriptor {
	tb.Helper()
	branches, err := descriptor.Parse(text, net, descriptor.Options{})
	if err != nil {
		var failure *descriptor.ParseError
		if !errors.As(err, &failure) {
			tb.Errorf("error of type %T", err)
		}
		tb.Fatalf("%s: %v", text, err)
	}
	return branches[0]
}
