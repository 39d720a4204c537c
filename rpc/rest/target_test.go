package rest_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/rest"
)

// A body tells in one way how many outputs it asks for, and may ask for 15. Of a body of 253 bytes or more all but
// the first byte of its length comes before what it says, as in Core.
func TestCounts(t *testing.T) {
	outpoint, _ := hex.DecodeString(txid + "01000000")
	const unreadable = "Parse error\r\n"
	for _, test := range []struct {
		count string // in hexadecimal
		sent  int    // bytes behind it, of whole outpoints and the beginning of another
		want  string // empty: an answer
	}{
		{"00", 0, ""},
		{"01", 36, ""},
		{"01", 35, unreadable},
		{"06", 6 * 36, ""},
		{"06", 6*36 - 1, unreadable},
		{"06", 6*36 + 35, ""},         // of 252 bytes
		{"06", 6*36 + 36, unreadable}, // of 253, as is said by fd fd 00: fd 00 06 is 0x0600 outpoints
		{"fd0100", 36, unreadable},
		{"fd0600", 6 * 36, unreadable},
		{"fd", 0, unreadable},
		{"fdfd", 0, unreadable},
		{"fe0000", 0, unreadable},
		{"ff0100000000000000", 36, unreadable},
		{"ffffffffffffffffff", 36, unreadable},
		{"", 0x20e, ""}, // begins with 0e 02, so with 14
		{"", 0x210, unreadable},
		{"", 0x30f, ""},
		{"", 0x310, "Error: max outpoints exceeded (max: 15, tried: 16)\r\n"},
		{"", 0xfffc, "Error: max outpoints exceeded (max: 15, tried: 252)\r\n"},
		{strings.Repeat("00", 253), 0xfffd - 253, "Error: max outpoints exceeded (max: 15, tried: 255)\r\n"}, // fd ff 00
	} {
		body, err := hex.DecodeString(test.count)
		if err != nil {
			t.Fatal(err)
		}
		body = append(body, bytes.Repeat(outpoint, test.sent/36+1)[:test.sent]...)
		reply := rest.Answer(t.Context(), node(), "/rest/getutxos.bin", body)
		got := string(reply.Body)
		if test.want == "" && reply.Status != 200 || test.want != "" && got != test.want {
			t.Errorf("%s before %d: %d %q, want %q", test.count, test.sent, reply.Status, got, test.want)
		}
	}
	path := strings.Repeat("/"+txid+"-1", 15)
	if reply := rest.Answer(t.Context(), node(), "/rest/getutxos"+path+".json", nil); reply.Status != 200 ||
		!strings.Contains(string(reply.Body), strings.Repeat("1", 15)) {
		t.Errorf("15 in the path: %d %s", reply.Status, reply.Body)
	}
}

// In the style of later versions targets may have any characters.
func TestAnyTarget(t *testing.T) {
	style := rest.Style{AnyTarget: true}
	for target, want := range map[string]int{
		"headers/" + tip + "%.json?count=1": 400, "headers/" + tip + ".json?%": 200, "headers/" + tip + ".json?x=%4": 200,
		"headers/" + tip + ".json?count=%3": 400, "headers/" + tip + ".json?count=x&count=1": 400,
		"headers/" + tip + ".json?count=1&count=x": 200, "headers/" + tip + ".json?coun%74=x": 400,
		"headers/" + tip + ".json?count": 400, "headers/" + tip + ".json?count=1#%": 200,
		"headers/" + tip + ".json?count=+1": 400, "headers/" + tip + ".json?=1&count=0": 400,
	} {
		reply := style.Answer(t.Context(), node(), "/rest/"+target, nil)
		if reply.Status != want || strings.Contains(string(reply.Body), "URI parsing") {
			t.Errorf("%s: %d %q", target, reply.Status, reply.Body)
		}
	}
	reply := style.Answer(t.Context(), node(), "/rest/headers/"+tip+"%", nil)
	if want := "Invalid hash: " + tip + "%\r\n"; reply.Status != 400 || string(reply.Body) != want {
		t.Errorf("%d %q", reply.Status, reply.Body)
	}
}

// Of the characters of a target those are taken that RFC 3986 lets stand there, of each part.
func TestCharacters(t *testing.T) {
	const anywhere = "-._~!$&'()*+,;=:@/"
	for c := range rune(128) {
		for part, target := range map[string]string{
			"path": "headers/" + tip + "%s.json?count=1", "query": "headers/" + tip + ".json?x=%s&count=1",
			"fragment": "headers/" + tip + ".json?count=1#%s",
		} {
			parting := map[string]string{"path": "/.?#%", "query": "#%&.?", "fragment": "#%&.?"}[part]
			if strings.ContainsRune(parting, c) {
				continue
			}
			want := 200
			if part == "path" {
				want = 400 // no hash
			}
			target = "/rest/" + strings.Replace(target, "%s", string(c), 1)
			reply := rest.Answer(t.Context(), node(), target, nil)
			wrong := strings.HasPrefix(string(reply.Body), "URI parsing failed")
			taken := strings.ContainsRune(anywhere, c) || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
			if wrong == taken || taken && reply.Status != want {
				t.Errorf("%q in the %s: %d %q", c, part, reply.Status, reply.Body)
			}
		}
	}
	for query, status := range map[string]int{
		"x=%41": 200, "x=%4": 400, "x=%": 400, "x=%4g": 400, "x=%g4": 400, "x=y#a#b": 400, "count=%31%00x": 200,
		"count=%3": 400, "count=+1": 400, "count=1&count=x": 200, "count=x&count=1": 400,
		"=1&count=0": 200, // a parameter without a name: there is no query
	} {
		reply := rest.Answer(t.Context(), node(), "/rest/headers/"+tip+".json?"+query, nil)
		if reply.Status != status {
			t.Errorf("%s: %d %q", query, reply.Status, reply.Body)
		}
	}
}
