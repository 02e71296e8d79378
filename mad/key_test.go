package mad

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Key bytes that occur in no other number.
const (
	testKey     = 0xfeedfaceabadcafe
	testKeyByte = 0xb7
)

// isKeyName matches the names of key fields. P_Keys and Q_Keys are no secrets, and a
// notice with such a key does not contain its kind.
var isKeyName = regexp.MustCompile(`^(Key|[A-Z]+Key)$`)

// setKeys stores a key in all key fields in a struct, and returns their count.
func setKeys(t *testing.T, v reflect.Value) (n int) {
	t.Helper()
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch k := f.Addr().Interface().(type) {
		case *Key:
			*k = testKey
			n++
			continue
		case *ServiceKey:
			for i := range k {
				k[i] = testKeyByte
			}
			n++
			continue
		}
		_, isPKey := f.Interface().(PKey)
		switch {
		case isKeyName.MatchString(name) && !isPKey && !strings.HasSuffix(name, "QKey") && v.Type() != reflect.TypeFor[KeyNotice]():
			t.Errorf("%v.%s is a key of type %v", v.Type(), name, f.Type())
		case f.Kind() == reflect.Struct:
			n += setKeys(t, f)
		}
	}
	return n
}

// everyAttribute returns an empty attribute per type.
func everyAttribute() (all []Attribute) {
	for _, c := range []Class{ClassSMPLIDRouted, ClassSA, ClassPM, ClassCC, ClassMlnx} {
		for _, id := range c.Attributes() {
			all = append(all, c.NewAttribute(id))
		}
	}
	for trap := range uint16(300) {
		if d := newDetails(trap); d != nil {
			all = append(all, d)
		}
	}
	return all
}

// texts returns an attribute's forms.
func texts(t *testing.T, a Attribute) map[string]string {
	t.Helper()
	document, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	appended, err := AppendJSON(nil, a)
	if err != nil {
		t.Fatal(err)
	}
	var dump bytes.Buffer
	if err := Dump(&dump, a); err != nil {
		t.Fatal(err)
	}
	var fields, visited strings.Builder
	Fields(a, nil, func(name string, text []byte) { fmt.Fprintf(&fields, "%s %s\n", name, text) })
	Visit(a, func(_ string, _ int, v uint64) uint64 {
		fmt.Fprintf(&visited, "%x", v)
		return v
	})
	return map[string]string{
		"JSON": string(document), "AppendJSON": string(appended), "Dump": dump.String(), "Fields": fields.String(), "Visit": visited.String(),
	}
}

// No encoder shows a key unless it is asked for.
func TestKeys(t *testing.T) {
	isKey := func(s string) bool {
		s = strings.ToLower(s)
		return strings.Contains(s, fmt.Sprintf("%x", uint64(testKey))) || strings.Contains(s, fmt.Sprint(uint64(testKey))) ||
			strings.Contains(s, strings.Repeat(fmt.Sprintf("%x", testKeyByte), 4))
	}
	found := 0
	for _, a := range everyAttribute() {
		value := reflect.ValueOf(a).Elem()
		if value.Kind() != reflect.Struct || setKeys(t, value) == 0 {
			continue
		}
		found++
		t.Run(value.Type().Name(), func(t *testing.T) {
			before := value.Interface()
			for form, text := range texts(t, a) {
				if isKey(text) {
					t.Errorf("%s: got a key in %s", form, text)
				}
			}
			for form, text := range texts(t, WithKeys(a)) {
				if !isKey(text) {
					t.Errorf("%s: got no key in %s", form, text)
				}
			}
			for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%d", "%s"} {
				if text := fmt.Sprintf(verb, a); isKey(text) {
					t.Errorf("%s: got a key in %s", verb, text)
				}
			}
			if value.Interface() != before {
				t.Error("the attribute has changed")
			}
			wire, again := make([]byte, a.Spec().Size), reflect.New(value.Type()).Interface().(Attribute)
			if err := Encode(WithKeys(a), wire); err != nil {
				t.Fatal(err)
			}
			if err := Decode(WithKeys(again), wire); err != nil || reflect.ValueOf(again).Elem().Interface() != before {
				t.Errorf("got %v, %v from the wire, want all values", again, err)
			}
		})
	}
	if want := 7; found != want {
		t.Errorf("got %d attributes with keys, want %d", found, want)
	}
}

func TestKey_Text(t *testing.T) {
	text, err := json.Marshal(struct {
		Key     Key
		Service fmt.Stringer
	}{testKey, Key(testKey)})
	if want := `{"Key":"0x0000000000000000","Service":"0x0000000000000000"}`; err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	if got := Key(testKey).String() + (ServiceKey{1}).String(); got != "hiddenhidden" {
		t.Errorf("got %q", got)
	}
}

// A visit sets keys that it does not see.
func TestVisit_Keys(t *testing.T) {
	a := PortInfo{MKey: testKey}
	Visit(&a, func(name string, _ int, v uint64) uint64 {
		if name == "Mkey" {
			return v + 5
		}
		return v
	})
	if a.MKey != 5 {
		t.Errorf("got %d, want 5", uint64(a.MKey))
	}
}
