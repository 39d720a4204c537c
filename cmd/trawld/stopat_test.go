package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// The program ends by itself once the chain has so many blocks, not before.
func TestStopAtHeight(t *testing.T) {
	d := runDaemon(t, "-rpcuser=u", "-rpcpassword="+password, "-listen=0", "-connect=0", "-printtoconsole=0", "-stopatheight=3")
	login := "u:" + password
	mine := func(blocks string) string {
		return d.post(t, login, `{"method":"generatetodescriptor","params":[`+blocks+`,"raw(51)"]}`)
	}
	mine("2")
	if got := d.post(t, login, `{"method":"getblockcount"}`); !strings.Contains(got, `"result":2,`) {
		t.Fatalf("got %s", got)
	}
	select {
	case status := <-d.status:
		t.Fatalf("ended at height 2 with status %d", status)
	case <-time.After(100 * time.Millisecond):
	}
	mine("1")
	select {
	case status := <-d.status:
		if status != 0 {
			t.Errorf("status %d: %s", status, d.stderr.String())
		}
	case <-time.After(30 * time.Second):
		t.Error("goes on")
	}
}

// Every chain is as high as a height below zero, also a height that became negative as an int of
// Core's.
func TestStopAtOnce(t *testing.T) {
	for _, height := range []string{"-1", "2147483648"} {
		var stderr bytes.Buffer
		dir := t.TempDir()
		ended := make(chan int, 1)
		go func() {
			ended <- run([]string{
				"-datadir=" + dir, "-regtest", "-server=0", "-listen=0", "-connect=0", "-printtoconsole=0",
				"-stopatheight=" + height,
			}, streams{io.Discard, &stderr, dir}, startNode)
		}()
		select {
		case status := <-ended:
			if status != 0 || stderr.Len() > 0 {
				t.Errorf("%s: status %d, %s", height, status, &stderr)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: goes on", height)
		}
	}
}
