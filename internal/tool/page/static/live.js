"use strict";
// The picture shows the last sweep with other problems than the sweep before: then the page
// is loaded again, at the same place.
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

  function follow() {
    if (document.hidden || stream) return;
    stream = new EventSource("api/stream");
    stream.addEventListener("sweep", e => {
      const now = JSON.parse(e.data);
      isLost = false;
      swept = Date.parse(now.time);
      if ([now.errors, now.warnings, now.events].join(" ") !== line.dataset.problems) reload();
      tickAge();
    });
    const own = stream;
    own.onerror = () => {
      isLost = true;
      tickAge();
      if (own.readyState !== EventSource.CLOSED) return; // the browser connects again
      setTimeout(() => {
        if (stream !== own) return;
        unfollow();
        follow();
      }, Math.max(5000, Number(line.dataset.interval)));
    };
  }

  function unfollow() {
    stream?.close();
    stream = null;
  }

  document.addEventListener("visibilitychange", () => document.hidden ? unfollow() : follow());
  addEventListener("pagehide", unfollow);
  addEventListener("pageshow", follow);
  setInterval(tickAge, 1000);
  tickAge();
  follow();
}
