package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

const printed = `goos: linux
cpu: Some CPU
BenchmarkTries/threads=2/k=1-2         	       7	 2290331 ns/op	         1.150 GB/s	         2.29 ms
BenchmarkTries/threads=2/wpkh=1000-2   	       7	 9290331 ns/op	         0.250 GB/s	         9.29 ms	   3.0 x-core
BenchmarkAbort-2 	       7	 5 ns/op	  0.1 other	 1 load
PASS
ok  	example.org/bench	161.884s
`

func TestTables(t *testing.T) {
	const want = `
## Tries

| threads | k | ms | GB/s | x-core |
| --- | --- | ---: | ---: | ---: |
| 2 | 1 | 2.29 | 1.150 |  |
| 2 | wpkh=1000 | 9.29 | 0.250 | 3.0 |

- ms: milliseconds, median of the rounds
- GB/s: size of the filters by that time, gigabytes a second; with probe lines only a part of them is read
- x-core: times as fast as Bitcoin Core, whole call

## Abort

| load | other |
| ---: | ---: |
| 1 | 0.1 |

- load: system load during the last minute, this benchmark included
`
	lines, err := read(strings.NewReader(printed), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	writeTables(&got, lines)
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"", "PASS", "BenchmarkX", "BenchmarkX-2", "BenchmarkX-2  1", "BenchmarkX-2 1 2 ns/op 3"} {
		if l, ok := parse(text); ok {
			t.Errorf("parse(%q) = %+v", text, l)
		}
	}
	l, ok := parse("BenchmarkMatch/part=a-b 3 4 ns/op")
	if !ok || l.bench != "Match" || l.labels[0] != "part=a-b" || l.rounds != "3" || l.values["ns/op"] != "4" {
		t.Errorf("got %+v, %v", l, ok)
	}
}
