package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadDocument(t *testing.T) {
	got := rates(readDocument("x.md", "It tells what is there.\n```\nwhat\n```\nNothing else."))
	uses := map[string]int{}
	for _, r := range got {
		if r.kind == documents {
			uses[r.group.name] = r.uses
		}
	}
	want := map[string]int{"what": 1, "tell, say, ask": 1, "none, nothing, nobody": 1, "where": 0, "of": 0, "one": 0, "those": 0, "whose": 0, "figurative words": 0}
	if diff := cmp.Diff(want, uses); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
}

func TestReadSchema(t *testing.T) {
	got := readSchema("x.json", "{\n\"description\": \"What it \\\"says\\\".\",\n\"title\": \"what\"}")
	want := []text{{schemas, "x.json", 2, `What it "says".`}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(text{})); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}
