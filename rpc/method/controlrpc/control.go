// Package controlrpc holds the JSON-RPC methods about the server itself: help,
// stop, uptime, getrpcinfo, getmemoryinfo, getclusterinfo, logging, getopenrpcinfo (also rpc.discover),
// getzmqnotifications, echo, echojson and echoipc.
package controlrpc

import (
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/rpc/command"
)

// Node is what the methods need to know of the node.
type Node struct {
	// Name is what the node calls itself when it stops: "Trawl".
	Name string

	// Stop begins to shut the node down and returns at once; nil: the method says that
	// it cannot.
	Stop func()

	// Started is when the node was started.
	Started time.Time

	// Now is the clock that uptime is read from, or the one set for a test of the node. nil: the time that has passed
	// counts, whatever becomes of the clock.
	Now func() time.Time

	// LogPath is the absolute path of the log file.
	LogPath string

	// Published is what is published by ZeroMQ.
	Published []Publication

	// Cluster is the actor that scans together with other nodes; absent without one.
	Cluster *ask.Ref

	// Log decides which categories are logged; nil: the host keeps its own log.
	Log LogFilter

	// Unlisted are categories that logging does not list. GoneCategory names a category that it passes over.
	Unlisted     []string
	GoneCategory string
	Warn         func(line string, args ...any) // writes a line of the log; may be nil
}

// Commands returns the methods.
func Commands(n Node) []command.Command {
	return []command.Command{
		echo("echo"),
		echo("echojson"),
		echoIPC(),
		getClusterInfo(n),
		getMemoryInfo(),
		getRPCInfo(n),
		getZMQNotifications(n),
		logging(n),
		openRPC("getopenrpcinfo", command.Control),
		openRPC("rpc.discover", command.Hidden),
		help(),
		stop(n),
		uptime(n),
	}
}

// always puts every call of a method into the control lane.
func always(*command.Args) bool { return true }
