package walletfile

import (
	"fmt"
	"strings"
	"testing"
)

// TestKeyExpressions numbers the key expressions of texts in which A, B, ...
// are extended keys and 02.. and 03.. constant ones.
func TestKeyExpressions(t *testing.T) {
	const hexKey = "02aa"
	tests := []struct{ text, want string }{
		{"raw(51)", ""},
		{"addr(mxyz)", ""},
		{"pk(" + hexKey + ")", "0:02aa"},
		{"wpkh(A/84h/*)", "0:A/84h/* x*"},
		{"sh(wpkh([00112233/1h]A/*h))", "0:[00112233/1h]A/*h xh"},
		{"multi(2,A/0,02aa,B/*)", "0:A/0 x|1:02aa|2:B/* x*"},
		{"sh(sortedmulti(1,A,B))", "0:A x|1:B x"},
		{"wsh(multi(1,A,B))", "0:A x|1:B x"},
		{"wsh(pkh(A))", "0:A x"},
		{"wsh(or_d(pk(A/*),and_v(v:pkh(B/*),after(1000))))", "0:A/* x* m|1:B/* x* m"},
		{"wsh(thresh(2,pk(A),s:pk(B),sln:older(9),a:sha256(aa)))", "0:A x m|1:B x m"},
		{"wsh(and_v(v:multi(1,A,B),older(5)))", "0:A x m|1:B x m"},
		{"wsh(andor(0,pk(A),1))", "0:A x m"},
		{"tr(A)", "0:A x"},
		{"tr(02aa,{pk(A/*),{pkh(B),multi_a(1,C,D)}})", "0:02aa|1:A/* x*|2:B x m|3:C x|4:D x"},
		{"tr(A,and_v(v:pk(B),multi_a(1,C)))", "0:A x|1:B x m|2:C x m"},
		{"rawtr(A)", "0:A x"},
		{"tr(musig(02aa,02aa))", "0:02aa|1:02aa|2:musig(02aa,02aa)"},
		{"tr(musig(A,B)/0/*,pk(C))", "0:A x|1:B x|2:musig(A,B)/0/* x*|3:C x"},
		{"tr(musig(A/*,B/*),pk(C))", "0:A/* x*|1:B/* x*|2:musig(A/*,B/*)|3:C x"},
		{"tr(A,and_v(v:pk(musig(B,C)/1),pk(D)))", "0:A x|1:B x m|2:C x m|3:musig(B,C)/1 x m|4:D x m"},
		{"mr(pk(pqc(A/87h/*)))", "0:A/87h/* x* q"},
		{"mr({pk(02aa),{multi_a(1,02aa,03bb),pk(pqc([00112233/1h]B/*h))}})", "0:[00112233/1h]B/*h xh q"},
		{"mr(pk(02aa))", ""},
		{"rawmr(02aa)", ""},
		{"", ""},
		{")),}{((", ""},
	}
	for _, test := range tests {
		var got []string
		for _, k := range keyExpressions(test.text) {
			text := fmt.Sprintf("%d:%s", k.number, test.text[k.start:k.end])
			if k.extended {
				text += " x" + []string{"", "*", "h"}[k.last]
			}
			if k.miniscript {
				text += " m"
			}
			if k.pqc {
				text += " q"
			}
			got = append(got, text)
		}
		if joined := strings.Join(got, "|"); joined != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.text, joined, test.want)
		}
	}
}
