package rest_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/rest"
)

// A part of a block is given by its first byte and its length, which are judged before anything else.
func TestBlockPart(t *testing.T) {
	t.Parallel()
	const noOffset, noSize = "Block part offset missing or invalid\r\n", "Block part size missing or invalid\r\n"
	of := func(query, hash string) string {
		return "Bad block part offset/size " + query + " for " + hash + "\r\n"
	}
	for _, test := range []struct {
		target string
		status int
		want   string
	}{
		{tip + ".bin?offset=1&size=1", 200, "\xff"},
		{tip + ".bin?offset=0&size=2", 200, "\x00\xff"},
		{tip + ".hex?size=001&offset=%31", 200, "ff\n"},
		{tip + ".hex", 400, noOffset},
		{"x.hex?size=1", 400, noOffset},
		{tip + ".hex?offset=&size=", 400, noOffset},
		{tip + ".hex?offset=-0&size=", 400, noOffset},
		{tip + ".hex?offset=%2B1&size=1", 400, noOffset},
		{tip + ".hex?offset=1+&size=1", 400, noOffset},
		{tip + ".hex?offset=0x1&size=1", 400, noOffset},
		{tip + ".hex?offset=18446744073709551616&size=1", 400, noOffset},
		{tip + ".hex?offset=1", 400, noSize},
		{"x.hex?offset=1&size=-1", 400, noSize},
		{tip + ".hex?offset=%&size=1", 400, "URI parsing failed, it likely contained RFC 3986 invalid characters\r\n"},
		{"x.hex?offset=0&size=1", 400, "Invalid hash: x\r\n"},
		{unknown + ".hex?offset=0&size=0", 404, unknown + " not found\r\n"},
		{tip + ".hex?offset=0&size=0", 400, of("0/0", tip)},
		{tip + ".hex?offset=0&size=3", 400, of("0/3", tip)},
		{tip + ".hex?offset=1&size=2", 400, of("1/2", tip)},
		{tip + ".hex?offset=2&size=1", 400, of("2/1", tip)},
		{tip + "?offset=3&size=1", 400, of("3/1", tip)},
		{tip + ".json?offset=1&size=18446744073709551615", 400, of("1/18446744073709551615", tip)},
		{tip + ".hex?offset=18446744073709551615&size=2", 400, of("18446744073709551615/2", tip)},
		{tip + ".json?offset=0&size=1", 400, "JSON output is not supported for this request type\r\n"},
		{tip + "?offset=0&size=1", 404, "output format not found (available: .bin, .hex, .json)\r\n"},
	} {
		for _, n := range []rest.Node{node(), read{node()}} {
			reply := rest.Answer(t.Context(), n, "/rest/blockpart/"+test.target, nil)
			if reply.Status != test.status || string(reply.Body) != test.want || reply.Lasts != (test.status == 200) {
				t.Errorf("%s: %d %q, want %d %q", test.target, reply.Status, reply.Body, test.status, test.want)
			}
		}
	}
	for text, want := range map[string]string{
		"Block not found on disk":                    "500 I/O error reading " + tip,
		"Block not available (pruned data)":          "404 " + tip + " not available (pruned data)",
		"Block not available (not fully downloaded)": "404 " + tip + " not available (not fully downloaded)",
	} {
		n := answers{"!getblock": text}
		reply := rest.Answer(t.Context(), n, "/rest/blockpart/"+tip+".bin?offset=0&size=1", nil)
		status, words, _ := strings.Cut(want, " ")
		if string(reply.Body) != words+"\r\n" || (reply.Status == 500) != (status == "500") {
			t.Errorf("%s: %d %q", text, reply.Status, reply.Body)
		}
	}
}

// While the node starts, a part without offset or size is refused for that reason.
func TestWarming(t *testing.T) {
	t.Parallel()
	const warming = "Service temporarily unavailable: Verifying…\r\n"
	for target, want := range map[string]string{
		"block/x.hex":                     warming,
		"blockpart/x.hex?offset=1&size=1": warming,
		"blockpart/x.hex?offset=1":        "Block part size missing or invalid\r\n",
	} {
		reply := rest.Warming("/rest/"+target, "Verifying…")
		if string(reply.Body) != want || (reply.Status == 503) != (want == warming) {
			t.Errorf("%s: %d %q", target, reply.Status, reply.Body)
		}
	}
}

// Replies about a block that say nothing of the chain around it last.
func TestLasting(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]bool{
		"block/" + tip + ".bin": true, "block/" + tip + ".hex": true, "block/" + tip + ".json": false,
		"block/notxdetails/" + tip + ".hex": true, "block/notxdetails/" + tip + ".json": false,
		"blockfilter/basic/" + tip + ".json": true, "spenttxouts/" + tip + ".json": true, "spenttxouts/" + tip + ".bin": true,
		"deploymentinfo/" + tip + ".json": true, "deploymentinfo.json": false, "deploymentinfo/.json": false,
		"blockfilterheaders/basic/" + tip + ".hex": false, "headers/" + tip + ".hex": false, "tx/" + txid + ".hex": false,
		"chaininfo.json": false, "mempool/info.json": false, "blockhashbyheight/7.bin": false,
		"getutxos/" + txid + "-1.bin": false,
	} {
		reply := rest.Answer(t.Context(), node(), "/rest/"+target, nil)
		if reply.Status != 200 || reply.Lasts != want {
			t.Errorf("%s: %d, lasts: %v", target, reply.Status, reply.Lasts)
		}
	}
	for _, target := range []string{"block/" + unknown + ".bin", "block/" + tip, "spenttxouts/" + unknown + ".json"} {
		if reply := rest.Answer(t.Context(), node(), "/rest/"+target, nil); reply.Lasts {
			t.Errorf("%s: %d lasts", target, reply.Status)
		}
	}
}
