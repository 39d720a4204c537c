package rest_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/rest"
)

// A body tells in one way how many outputs it asks for, and may ask for 15.
func TestCounts(t *testing.T) {
	outpoint, _ := hex.DecodeString(txid + "01000000")
	const tooMany = "Error: max outpoints exceeded (max: 15, tried: %d)\r\n"
	for _, test := range []struct {
		count string // in hexadecimal
		sent  int
		want  string
	}{
		{"0f", 15, ""},
		{"0f", 14, "Parse error\r\n"},
		{"10", 16, fmt.Sprintf(tooMany, 16)},
		{"fc", 252, fmt.Sprintf(tooMany, 252)},
		{"fdfd00", 253, fmt.Sprintf(tooMany, 253)},
		{"fdfc00", 253, "Parse error\r\n"},
		{"fdffff", 1 << 16, fmt.Sprintf(tooMany, 1<<16-1)},
		{"fe00000100", 1 << 16, fmt.Sprintf(tooMany, 1<<16)},
		{"feffff0000", 1 << 16, "Parse error\r\n"},
		{"ff0100000000000000", 1, "Parse error\r\n"},
		{"ffffffffffffffffff", 1, "Parse error\r\n"},
		{"fdfd", 0, "Parse error\r\n"},
		{"fe0000", 0, "Parse error\r\n"},
		{"", 0, "Parse error\r\n"},
	} {
		body, err := hex.DecodeString("00" + test.count)
		if err != nil {
			t.Fatal(err)
		}
		for range test.sent {
			body = append(body, outpoint...)
		}
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
