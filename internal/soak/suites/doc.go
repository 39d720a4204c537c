// Package suites runs the functional tests of Bitcoin Core 30.2 and of qbit 1.0.0,
// unmodified, against a trawld. The package has tests alone. CORE_BUILD and
// QBIT_BUILD name build folders, configured by cmake, whose sources have the
// functional tests. The files in testdata name the tests that are not run, each
// with its reason.
//
//	QBIT_BUILD=/path/to/build go test -v -timeout=0 -run 'TestQbitSuite/feature_auxpow' ./internal/soak/suites
package suites
