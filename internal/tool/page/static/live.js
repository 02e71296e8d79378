"use strict";
// The picture has the rates and findings of the last sweep. They are loaded after each sweep;
// a sweep with other nodes or links loads the page again, at the same place.
{
  const line = document.getElementById("live");
  const kept = JSON.parse(sessionStorage.getItem("view") ?? "null");
  sessionStorage.removeItem("view");
  if (kept && kept.hash === location.hash) {
    Object.assign(view, kept.view);
    draw();
  }

  let isLost = false, swept = Number(line.dataset.at), stream = null;

  function tickAge() {
    const seconds = Math.max(0, Math.round((Date.now() - swept) / 1000));
    const age = seconds < 120 ? seconds + " s" : Math.round(seconds / 60) + " min";
    line.textContent = isLost ? "Connection lost: the picture is not current." : age + " ago";
  }

  function reload() {
    const {scale, left, top, moved} = view;
    sessionStorage.setItem("view", JSON.stringify({hash: location.hash, view: {scale, left, top, moved}}));
    location.reload();
  }

  async function load() {
    try {
      const next = await (await fetch("picture.json" + location.search)).json();
      if (next.layout !== paint.layout) return reload();
      update(next);
      isLost = false;
    } catch {
      isLost = true;
    }
    tickAge();
  }

  function follow() {
    if (document.hidden || stream) return;
    stream = new EventSource("api/stream");
    stream.addEventListener("sweep", e => {
      swept = Date.parse(JSON.parse(e.data).time);
      setTimeout(load, Math.random() * 500);
    });
    const own = stream;
    own.onopen = () => { if (isLost) load(); };
    own.onerror = () => {
      isLost = true;
      tickAge();
      if (own.readyState !== EventSource.CLOSED) return; // the browser connects again
      setTimeout(() => {
        if (stream !== own) return;
        unfollow();
        load();
        follow();
      }, Math.max(5000, Number(line.dataset.interval)));
    };
  }

  function unfollow() {
    stream?.close();
    stream = null;
  }

  function enter() {
    if (document.hidden || stream) return;
    load();
    follow();
  }

  // Another colour has the same selection.
  for (const a of document.querySelectorAll("#colours a")) a.onclick = () => { a.hash = location.hash; };

  document.addEventListener("visibilitychange", () => document.hidden ? unfollow() : enter());
  addEventListener("pagehide", unfollow);
  addEventListener("pageshow", e => { if (e.persisted) enter(); });
  setInterval(tickAge, 1000);
  tickAge();
  follow();
}
