package validate

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// objects reads a file as Kubernetes does, which refuses fields that it does not know.
func objects(t *testing.T, path string) (list []runtime.Object) {
	t.Helper()
	scheme := runtime.NewScheme()
	err := errors.Join(core.AddToScheme(scheme), apps.AddToScheme(scheme), networking.AddToScheme(scheme))
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewSerializerWithOptions(
		json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true},
	)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text))); ; {
		document := make([]byte, len(text)+1)
		n, err := documents.Read(document)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := strict.Decode(document[:n], nil, nil)
		if err != nil {
			t.Fatalf("%s: %v in\n%s", path, err, document[:n])
		}
		list = append(list, object)
	}
}

// Each object has fields that Kubernetes knows, and names only what is there.
func TestKubernetes(t *testing.T) {
	paths, err := filepath.Glob("../kubernetes/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	files := map[string][]runtime.Object{}
	named := map[string]bool{} // a file may name what another has
	for _, path := range paths {
		files[path] = objects(t, path)
		for _, object := range files[path] {
			switch o := object.(type) {
			case *core.Secret:
				named["secret "+o.Name] = true
				checkOptions(t, o.StringData)
			case *core.ConfigMap:
				named["config "+o.Name] = true
				checkOptions(t, o.Data)
			case *core.Service:
				named["service "+o.Name] = true
			}
		}
	}
	for path, list := range files {
		sets := 0
		for _, object := range list {
			if set, ok := object.(*apps.StatefulSet); ok {
				sets++
				checkSet(t, set, list, named)
			}
		}
		if sets == 0 {
			t.Errorf("%s runs nothing", path)
		}
	}
}

// checkOptions holds the options of configuration files against the manual.
func checkOptions(t *testing.T, files map[string]string) {
	t.Helper()
	manual, err := os.ReadFile("../../docs/man/trawl.conf.5")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if !strings.HasSuffix(name, ".conf") {
			continue
		}
		for line := range strings.Lines(text) {
			option, _, given := strings.Cut(strings.TrimSpace(line), "=")
			if given && option[0] != '#' && !bytes.Contains(manual, []byte("\n.B "+option+"=")) {
				t.Errorf("%s: the manual has no option %s", name, option)
			}
		}
	}
}

// checkArguments holds the options of a command against the manual.
func checkArguments(t *testing.T, args []string) {
	t.Helper()
	manual, err := os.ReadFile("../../docs/man/trawld.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, arg := range args {
		option, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if !bytes.Contains(manual, []byte("\n.B \\-"+option)) {
			t.Errorf("the manual has no option %s", arg)
		}
	}
}

func checkSet(t *testing.T, set *apps.StatefulSet, list []runtime.Object, named map[string]bool) {
	t.Helper()
	pod := set.Spec.Template
	if !named["service "+set.Spec.ServiceName] {
		t.Errorf("%s: there is no service %s", set.Name, set.Spec.ServiceName)
	}
	if !matches(set.Spec.Selector.MatchLabels, pod.Labels) {
		t.Errorf("%s does not select its own pods", set.Name)
	}
	if s := pod.Spec.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot {
		t.Errorf("%s may run as root", set.Name)
	}
	volumes := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = true
		if v.Secret != nil && !named["secret "+v.Secret.SecretName] {
			t.Errorf("%s: there is no secret %s", set.Name, v.Secret.SecretName)
		}
		if v.ConfigMap != nil && !named["config "+v.ConfigMap.Name] {
			t.Errorf("%s: there is no ConfigMap %s", set.Name, v.ConfigMap.Name)
		}
	}
	for _, claim := range set.Spec.VolumeClaimTemplates {
		volumes[claim.Name] = true
	}
	var ports []string
	for _, c := range pod.Spec.Containers {
		if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
			s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
			t.Errorf("%s: container %s may write to its root, or get more rights", set.Name, c.Name)
		}
		if c.ReadinessProbe == nil || c.LivenessProbe == nil || c.StartupProbe == nil {
			t.Errorf("%s: container %s has not all three probes", set.Name, c.Name)
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s: there is no volume %s", set.Name, m.Name)
			}
		}
		for _, p := range c.Ports {
			ports = append(ports, p.Name)
		}
		checkArguments(t, c.Args)
	}
	for _, object := range list {
		service, ok := object.(*core.Service)
		if !ok || !matches(service.Spec.Selector, pod.Labels) {
			continue
		}
		for _, p := range service.Spec.Ports {
			if !slices.Contains(ports, p.Name) {
				t.Errorf("%s: no container has the port %s of service %s", set.Name, p.Name, service.Name)
			}
		}
	}
}

func matches(selector, of map[string]string) bool {
	return labels.SelectorFromSet(selector).Matches(labels.Set(of))
}

// The compose file is one by the schema of compose, and the files that it mounts are there.
func TestCompose(t *testing.T) {
	details := types.ConfigDetails{
		WorkingDir:  "../compose",
		ConfigFiles: []types.ConfigFile{{Filename: "../compose/compose.yaml"}},
		Environment: types.Mapping{
			"TRAWL_VERSION": "0.1.0", "BITCOIN_DIR": "/bitcoin", "BITCOIN_UID": "1000:1000", "TRAWL_DIR": "/trawl",
		},
	}
	project, err := loader.LoadWithContext(t.Context(), details)
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Services) != 3 {
		t.Errorf("got services %v", project.ServiceNames())
	}
	for name, service := range project.Services {
		for _, v := range service.Volumes {
			if v.Type != types.VolumeTypeBind {
				if service.User != "" && !v.ReadOnly {
					t.Errorf("%s runs as %s, to whom the volume %s does not belong", name, service.User, v.Source)
				}
				continue
			}
			if slices.Contains([]string{"/bitcoin", "/trawl"}, v.Source) {
				continue
			}
			if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, missing := range []string{"TRAWL_VERSION", "BITCOIN_DIR", "BITCOIN_UID", "TRAWL_DIR"} {
		without := details
		without.Environment = details.Environment.Clone()
		delete(without.Environment, missing)
		if _, err := loader.LoadWithContext(t.Context(), without); err == nil {
			t.Errorf("it starts without %s", missing)
		}
	}
}
