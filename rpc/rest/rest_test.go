package rest_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/rest"
)

// answers is a node that knows some calls by heart, and no other block or transaction.
type answers map[string]string

// Do implements rest.Node.
func (a answers) Do(_ context.Context, method string, params []byte) ([]byte, error) {
	if result, ok := a[method+string(params)]; ok {
		return []byte(result), nil
	}
	if text, ok := a["!"+method]; ok {
		return nil, command.Error{Code: command.MiscError, Message: text}
	}
	switch method {
	case "gettxout":
		return []byte("null"), nil
	case "getblockhash":
		return nil, command.Error{Code: command.InvalidParameter, Message: "Block height out of range"}
	}
	return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Block not found"}
}

const unknown = "00000000000000000000000000000000000000000000000000000000000000ff"

var (
	tip   = strings.Repeat("ab", 32)
	next  = strings.Repeat("cd", 32)
	txid  = strings.Repeat("12", 32)
	hello = `{"value":0.00000001,"scriptPubKey":{"asm":"1","hex":"51"}`
)

func node() answers {
	prevout := `"prevout":{"generated":false,"height":1,` + hello[1:] + `}`
	return answers{
		`getbestblockhash[]`:                          `"` + tip + `"`,
		`getblockchaininfo[]`:                         `{"chain":"x"}`,
		`getmempoolinfo[]`:                            `{"size":0}`,
		`getrawmempool[true,false]`:                   `{}`,
		`getrawmempool[false,true]`:                   `{"txids":[]}`,
		`getdeploymentinfo[]`:                         `{"height":7}`,
		`getdeploymentinfo["` + tip + `"]`:            `{"height":7}`,
		`getblockhash[7]`:                             `"` + tip + `"`,
		`getblockhash[8]`:                             `"` + next + `"`,
		`getblock["` + tip + `",0]`:                   `"00ff"`,
		`getblock["` + tip + `",1]`:                   `{"tx":["a"]}`,
		`getblock["` + tip + `",3]`:                   `{"height":7,"tx":[{"vin":[{"coinbase":"00"}]},{"vin":[{` + prevout + `}]}]}`,
		`getblockheader["` + tip + `"]`:               `{"hash":"` + tip + `","confirmations":2,"height":7,"nextblockhash":"` + next + `"}`,
		`getblockheader["` + next + `"]`:              `{"hash":"` + next + `","confirmations":1,"height":8}`,
		`getblockheader["` + tip + `",false]`:         `"aa"`,
		`getblockheader["` + next + `",false]`:        `"bb"`,
		`getblockheader["` + txid + `"]`:              `{"hash":"` + txid + `","confirmations":-1,"height":8}`,
		`getblockfilter["` + tip + `","basic"]`:       `{"filter":"0102","header":"` + txid + `"}`,
		`getblockfilter["` + next + `","basic"]`:      `{"filter":"03","header":"` + tip + `"}`,
		`getrawtransaction["` + txid + `",0]`:         `"0102"`,
		`getrawtransaction["` + txid + `",1]`:         `{"txid":"x","hex":"0102","blockhash":"b","confirmations":3,"time":1,"blocktime":1}`,
		`gettxout["` + txid + `",1,false]`:            hello + `,"bestblock":"` + tip + `","confirmations":3}`,
		`gettxout["` + txid + `",1,true]`:             hello + `,"bestblock":"` + tip + `","confirmations":0}`,
		`gettxout["` + unknown + `",4294967295,true]`: `null`,
	}
}

func TestAnswers(t *testing.T) {
	const formats = "output format not found (available: .bin, .hex, .json)\r\n"
	edges := strings.Repeat("09afAF12", 8) // the first and last of all digits
	first, second := node()[`getblockheader["`+tip+`"]`], node()[`getblockheader["`+next+`"]`]
	coin := `,"value":0.00000001,"scriptPubKey":{"asm":"1","hex":"51"}}`
	serialized := "07000000" + tip + "0101" + "01" + "00000000" + "05000000" + "0100000000000000" + "0151"
	inPool := strings.Replace(serialized, "05000000", "ffffff7f", 1)
	body, _ := hex.DecodeString("01" + txid + "01000000")
	for _, test := range []struct {
		target, body string
		status       int
		want         string
	}{
		{"chaininfo.json", "", 200, `{"chain":"x"}` + "\n"},
		{"chaininfo", "", 404, "output format not found (available: json)\r\n"},
		{"mempool/info.json", "", 200, `{"size":0}` + "\n"},
		{"mempool/contents.json", "", 200, "{}\n"},
		{"mempool/contents.json?verbose=false&mempool_sequence=true", "", 200, `{"txids":[]}` + "\n"},
		{"mempool/contents.json?verbose", "", 200, "{}\n"}, // a parameter without a value is none
		{"mempool/contents.json?verbose=%74rue", "", 200, "{}\n"},
		{
			"mempool/contents.json?mempool_sequence=true", "", 400,
			"Verbose results cannot contain mempool sequence values. (hint: set \"verbose=false\")\r\n",
		},
		{"mempool/contents.json?verbose=1", "", 400, "The \"verbose\" query parameter must be either \"true\" or \"false\".\r\n"},
		{"mempool/contents.json?%", "", 400, "URI parsing failed, it likely contained RFC 3986 invalid characters\r\n"},
		{"mempool/x.json", "", 400, "Invalid URI format. Expected /rest/mempool/<info|contents>.json\r\n"},
		{"mempool/info.hex", "", 404, "output format not found (available: json)\r\n"},
		{"deploymentinfo.json", "", 200, `{"height":7}` + "\n"},
		{"deploymentinfo/" + tip + ".json", "", 200, `{"height":7}` + "\n"},
		{"deploymentinfo/" + unknown + ".json", "", 400, "Block not found\r\n"},
		{"deploymentinfo/ab.json", "", 400, "Invalid hash: ab\r\n"},
		{"blockhashbyheight/7.json", "", 200, `{"blockhash":"` + tip + "\"}\n"},
		{"blockhashbyheight/7.hex", "", 200, tip + "\n"},
		{"blockhashbyheight/7.bin", "", 200, "hex:" + tip},
		{"blockhashbyheight/9.hex", "", 404, "Block height out of range\r\n"},
		{"blockhashbyheight/a.hex", "", 400, "Invalid height: a\r\n"},
		{"blockhashbyheight/\u0141b.hex", "", 400, "Invalid height: b\r\n"},
		{"blockhashbyheight/-1.hex", "", 400, "Invalid height: -1\r\n"},
		{"blockhashbyheight/-.hex", "", 400, "Invalid height: -\r\n"},
		{"blockhashbyheight/-0.hex", "", 404, "Block height out of range\r\n"}, // a height: 0
		{"blockhashbyheight/+1.hex", "", 400, "Invalid height: +1\r\n"},
		{"blockhashbyheight/2147483648.hex", "", 400, "Invalid height: 2147483648\r\n"},
		{"blockhashbyheight/7", "", 404, formats},
		{"block/" + tip + ".bin", "", 200, "hex:00ff"},
		{"block/" + tip + ".hex", "", 200, "00ff\n"},
		{"block/" + tip, "", 404, formats},
		{"block/notxdetails/" + tip + ".json", "", 200, `{"tx":["a"]}` + "\n"},
		{"block/" + unknown + ".json", "", 404, unknown + " not found\r\n"},
		{"block/x.json", "", 400, "Invalid hash: x\r\n"},
		{"block/x.foo", "", 400, "Invalid hash: x.foo\r\n"},
		{"spenttxouts/" + tip + ".json", "", 200, `[[],[{"value":0.00000001,"scriptPubKey":{"asm":"1","hex":"51"}}]]` + "\n"},
		{"spenttxouts/" + tip + ".hex", "", 200, "02" + "00" + "01" + "0100000000000000" + "0151" + "\n"},
		{"spenttxouts/" + unknown + ".hex", "", 404, unknown + " not found\r\n"},
		{"spenttxouts/a/b.hex", "", 400, "Invalid URI format. Expected /rest/spenttxouts/<hash>.<ext>\r\n"},
		{"headers/" + tip + ".hex", "", 200, "aabb\n"},
		{"headers/1/" + tip + ".hex", "", 200, "aa\n"},
		{"headers/" + tip + ".bin?count=1", "", 200, "hex:aa"},
		{"headers/" + tip + ".json", "", 200, "[" + first + "," + second + "]\n"},
		{"headers/1/" + tip + ".json", "", 200, "[" + first + "]\n"},
		{"headers/" + tip + ".json?count=1", "", 200, "[" + first + "]\n"},
		{"headers/" + txid + ".json", "", 200, "[]\n"}, // not in the active chain
		{"headers/" + txid + ".hex", "", 200, "\n"},
		{"headers/" + unknown + ".json", "", 200, "[]\n"},
		{"headers/" + edges + ".json", "", 200, "[]\n"},
		{"headers/" + tip + ".json?count=2001", "", 400, "Header count is invalid or out of acceptable range (1-2000): 2001\r\n"},
		{"headers/a/b/c.json", "", 400, "Invalid URI format. Expected /rest/headers/<hash>.<ext>?count=<count>\r\n"},
		{"blockfilter/basic/" + tip + ".json", "", 200, `{"filter":"0102"}` + "\n"},
		{"blockfilter/basic/" + tip + ".hex", "", 200, "00" + tip + "020102\n"},
		{"blockfilter/other/" + tip + ".hex", "", 400, "Unknown filtertype other\r\n"},
		{"blockfilter/basic/" + unknown + ".hex", "", 404, unknown + " not found\r\n"},
		{"blockfilterheaders/basic/" + tip + ".json", "", 200, `["` + txid + `","` + tip + "\"]\n"},
		{"blockfilterheaders/basic/1/" + tip + ".hex", "", 200, txid + "\n"},
		{"blockfilterheaders/basic/" + unknown + ".json", "", 200, "[]\n"},
		{"tx/" + txid + ".hex", "", 200, "0102\n"},
		{"tx/" + txid + ".json", "", 200, `{"txid":"x","blockhash":"b","hex":"0102"}` + "\n"},
		{"tx/" + unknown + ".json", "", 404, unknown + " not found\r\n"},
		{"getutxos.json", "", 400, "Error: empty request\r\n"},
		{"getutxos/checkmempool.json", "", 400, "Error: empty request\r\n"},
		{"getutxos/checkmempool.bin", string(body), 400, "Error: empty request\r\n"},
		{
			"getutxos/" + txid + "-1/" + unknown + "-0.json", "", 200,
			`{"chainHeight":7,"chaintipHash":"` + tip + `","bitmap":"10","utxos":[{"height":5` + coin + "]}\n",
		},
		{
			"getutxos/checkmempool/" + txid + "-1.json", "", 200,
			`{"chainHeight":7,"chaintipHash":"` + tip + `","bitmap":"1","utxos":[{"height":2147483647` + coin + "]}\n",
		},
		{"getutxos/" + txid + "-1.hex", "", 200, serialized + "\n"},
		{"getutxos.bin", string(body), 200, "hex:" + inPool},
		{"getutxos.hex", hex.EncodeToString(body), 200, inPool + "\n"},
		{"getutxos/" + txid + "-1.bin", string(body), 400, "Combination of URI scheme inputs and raw post data is not allowed\r\n"},
		{"getutxos.bin", string(body[:36]), 400, "Parse error\r\n"},
		{"getutxos/" + txid + "--1.json", "", 400, "Parse error\r\n"},
		{"getutxos/" + txid + "-4294967296.json", "", 400, "Parse error\r\n"},
		{"getutxos" + strings.Repeat("/"+txid+"-1", 16) + ".json", "", 400, "Error: max outpoints exceeded (max: 15, tried: 16)\r\n"},
	} {
		for _, n := range []rest.Node{node(), read{node()}} {
			reply := rest.Answer(t.Context(), n, "/rest/"+test.target, []byte(test.body))
			got := string(reply.Body)
			if strings.HasPrefix(test.want, "hex:") {
				got = "hex:" + hex.EncodeToString(reply.Body)
			}
			if reply.Status != test.status || got != test.want {
				t.Errorf("%T: %s: %d %q, want %d %q (%v)",
					n, test.target, reply.Status, got, test.status, test.want, reply.Err)
			}
		}
	}
}

// Errors that only the node knows are told in this door's words.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		method, text, target string
		status               int
		want                 string
	}{
		{"getblock", "Block not available (pruned data)", "block/" + unknown + ".hex", 404, unknown + " not available (pruned data)\r\n"},
		{"getblock", "Undo data not available", "spenttxouts/" + unknown + ".hex", 404, unknown + " undo not available\r\n"},
		{
			"getblockfilter", "Index is not enabled for filtertype basic", "blockfilterheaders/basic/" + unknown + ".hex", 400,
			"Index is not enabled for filtertype basic\r\n",
		},
		{"getblockfilter", "Filter not found. Oh.", "blockfilter/basic/" + unknown + ".hex", 404, "Filter not found. Oh.\r\n"},
		{"getblockhash", "oh", "blockhashbyheight/7.hex", 500, "oh\r\n"},
		{"getrawtransaction", "oh", "tx/" + unknown + ".hex", 500, "oh\r\n"},
	} {
		n := answers{"!" + test.method: test.text}
		for _, n := range []rest.Node{n, read{n}} {
			reply := rest.Answer(t.Context(), n, "/rest/"+test.target, nil)
			if reply.Status != test.status || string(reply.Body) != test.want ||
				(reply.Err != nil) != (test.status == 500) {
				t.Errorf("%T: %s: %d %q", n, test.target, reply.Status, reply.Body)
			}
		}
	}
}

// The characters next to the hexadecimal digits are no digits.
func TestNoHash(t *testing.T) {
	for _, digit := range []string{"/", ":", "@", "G", "`", "g", " "} {
		hash := strings.Repeat("a", 63) + digit
		reply := rest.Answer(t.Context(), node(), "/rest/deploymentinfo/"+hash+".json", nil)
		if reply.Status != 400 || string(reply.Body) != "Invalid hash: "+hash+"\r\n" {
			t.Errorf("%q: %d %q", digit, reply.Status, reply.Body)
		}
	}
}

// A failure of any call on the way to unspent outputs is that of the request.
func TestLookUpFails(t *testing.T) {
	for _, method := range []string{"getbestblockhash", "getblockheader", "gettxout"} {
		n := answers{"!" + method: "oh"}
		for call, result := range node() {
			if !strings.HasPrefix(call, method) {
				n[call] = result
			}
		}
		reply := rest.Answer(t.Context(), n, "/rest/getutxos/"+txid+"-1.json", nil)
		if reply.Status != 500 || string(reply.Body) != "oh\r\n" {
			t.Errorf("%s: %d %q", method, reply.Status, reply.Body)
		}
	}
}

// A request that ends with the node gets that reason, and is no failure.
func TestEnd(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	reply := rest.Answer(ctx, broken{}, "/rest/chaininfo.json", nil)
	if reply.Status != 503 || string(reply.Body) != "Shutting down\r\n" || reply.Err != nil {
		t.Errorf("%+v", reply)
	}
}

// A request about a memory pool where there is none is refused in the same words by every
// method.
func TestNoPool(t *testing.T) {
	n := node()
	delete(n, "getmempoolinfo[]")
	n["!getmempoolinfo"] = "x"
	reply := rest.Answer(t.Context(), read{n}, "/rest/getutxos/checkmempool/"+txid+"-1.json", nil)
	if reply.Status != 404 || string(reply.Body) != "Mempool disabled or instance not found\r\n" {
		t.Errorf("%d %q", reply.Status, reply.Body)
	}
}

// Reader implements rest.Node.
func (answers) Reader() command.Reader { return nil }

// Reader implements rest.Node.
func (broken) Reader() command.Reader { return nil }

// moving is a node whose tip changes with each look.
type moving struct {
	answers
	looks *int
}

// Bytes implements rest.Node.
func (a answers) Bytes(ctx context.Context, method string, params []byte) ([]byte, error) {
	text, err := a.Do(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(strings.Trim(string(text), `"`))
}

// Do implements rest.Node.
func (m moving) Do(ctx context.Context, method string, params []byte) ([]byte, error) {
	if method == "getbestblockhash" {
		if *m.looks++; *m.looks == 1 {
			return []byte(`"` + next + `"`), nil
		}
	}
	return m.answers.Do(ctx, method, params)
}

// An answer is of one tip.
func TestSteady(t *testing.T) {
	looks := 0
	reply := rest.Answer(t.Context(), moving{node(), &looks}, "/rest/getutxos/"+txid+"-1.json", nil)
	if reply.Status != 200 || !strings.Contains(string(reply.Body), tip) || looks != 4 {
		t.Errorf("%d %s after %d looks", reply.Status, reply.Body, looks)
	}
}

// broken fails at every call, as nobody has words for.
type broken struct{}

// Do implements rest.Node.
func (broken) Do(context.Context, string, []byte) ([]byte, error) { return nil, errors.New("the disk") }

// Bytes implements rest.Node.
func (broken) Bytes(context.Context, string, []byte) ([]byte, error) {
	return nil, errors.New("the disk")
}

// A failure that nobody has words for shows nothing.
func TestFailure(t *testing.T) {
	reply := rest.Answer(t.Context(), broken{}, "/rest/chaininfo.json", nil)
	if reply.Status != 500 || string(reply.Body) != "Internal error\r\n" || reply.Err == nil {
		t.Errorf("%+v", reply)
	}
}

// An output that cannot be serialized is no output that is not there.
func TestUnreadableOutput(t *testing.T) {
	n := node()
	n[`gettxout["`+txid+`",1,false]`] = `{"value":1,"scriptPubKey":{"hex":"zz"},"bestblock":"` + tip + `","confirmations":3}`
	reply := rest.Answer(t.Context(), n, "/rest/getutxos/"+txid+"-1.bin", nil)
	if reply.Status != 500 || string(reply.Body) != "Internal error\r\n" || reply.Err == nil {
		t.Errorf("%+v", reply)
	}
}

// FuzzAnswer: every target and body has a reply of a known status, and bad ones no result.
func FuzzAnswer(f *testing.F) {
	for _, target := range []string{
		"tx/" + txid + ".hex", "getutxos/checkmempool/" + txid + "-1.json", "headers/" + tip + ".json?count=2#%",
		"block/notxdetails/..json?a", "blockfilterheaders/basic/5/" + tip + ".bin", "getutxos.bin", "getutxos.hex",
	} {
		f.Add(target, []byte("\x01\x01"+strings.Repeat("x", 36)))
	}
	f.Fuzz(func(t *testing.T, target string, body []byte) {
		reply := rest.Answer(t.Context(), node(), "/rest/"+target, body)
		switch reply.Status {
		case 200, 400, 404:
		default:
			t.Errorf("%q: %d %v", target, reply.Status, reply.Err)
		}
		if exists := rest.Exists("/rest/" + target); !exists && reply.Status != 404 {
			t.Errorf("%q does not exist: %d", target, reply.Status)
		}
	})
}
