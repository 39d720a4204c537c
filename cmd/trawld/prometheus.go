package main

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"strconv"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/metrics"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/version"
	"github.com/seed61375155/trawl/rpc"
)

// metricsPorts is how far above the default port of calls metrics are, where the option
// names no port.
const metricsPorts = 1000

// openMetrics listens where -prometheus says.
func (d *daemon) openMetrics(ctx context.Context) error {
	port := d.settings.RPCPort()
	if d.attached != nil {
		port += attachedPorts
	}
	addr, err := metricsAddress(d.settings, port+metricsPorts)
	if addr == "" || err != nil {
		return err
	}
	d.metrics = metrics.New(d.log, version.String())
	if d.metrics.Hosts, err = rpc.ParseHosts(d.settings.Strings("rpcallowhost")); err != nil {
		return err
	}
	if d.scraped, err = d.metrics.Listen(ctx, addr); err != nil {
		return refuse("Cannot show metrics (-prometheus): %v", err)
	}
	addr = d.scraped.Addr().String()
	corelog.Printf(d.log, slog.LevelInfo, "Metrics are at http://%s/metrics", addr)
	if at, err := netip.ParseAddrPort(addr); err == nil && !at.Addr().Unmap().IsLoopback() {
		corelog.Printf(d.log, slog.LevelWarn, "Whoever reaches %s can read the metrics: they need no login", addr)
	}
	return nil
}

// metricsAddress reads -prometheus; empty: it is off. An address without a host is of this
// machine alone.
func metricsAddress(o *options.Settings, port uint16) (string, error) {
	text := o.String("prometheus", "0")
	if text == "0" {
		return "", nil
	}
	host := ""
	if n, ok := options.ParsePort(text); ok && n != 1 {
		port = n
	} else if text != "" && text != "1" {
		named, n, ok := options.SplitHostPort(text)
		if !ok {
			return "", refuse("Invalid port specified in -prometheus: '%s'", text)
		}
		host = named
		if n != 0 {
			port = n
		}
	}
	switch host {
	case "", "localhost":
		host = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return "", refuse("Invalid address specified in -prometheus: '%s'", text)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

// serveMetrics answers scrapes. The returned channel is closed when serving has ended; a
// listener that fails is no reason to end the node.
func (d *daemon) serveMetrics() <-chan struct{} {
	ended := make(chan struct{})
	if d.scraped == nil {
		close(ended)
		return ended
	}
	go func() {
		defer close(ended)
		if err := d.scraped.Serve(); err != nil {
			d.log.Error("metrics are not shown any more", "err", err)
		}
	}()
	return ended
}

// closeMetrics stops to answer scrapes.
func (d *daemon) closeMetrics(ctx context.Context) error {
	if d.scraped == nil {
		return nil
	}
	return d.scraped.Shutdown(ctx)
}
