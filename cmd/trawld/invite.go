package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// terminalOf returns a stream where a person reads it, nil elsewhere.
func terminalOf(stream io.Writer) io.Writer {
	if file, ok := stream.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}

// invite shows, on a terminal, where the page of the node is, and a link that signs in once. The link is a secret: it
// is in no log and in no file.
func (d *daemon) invite() {
	if d.page == nil || d.terminal == nil {
		return
	}
	address := localAddress(d.server.Addrs())
	if address == "" {
		return
	}
	scheme := "http"
	if certificateFiles(d.settings) != "" {
		scheme = "https"
	}
	root := scheme + "://" + address + "/"
	const form = "\nThe page of this node is %s\nTo sign in, once and within ten minutes: %s\n\n"
	_, _ = fmt.Fprintf(d.terminal, form, root, root+d.page.Invite())
}
