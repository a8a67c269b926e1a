// Lets the search work when the site is opened from a folder. Browsers start no worker from file:,
// so an iframe runs its script. The offline plugin would load such a script from another host.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.document.write(
        '<script>postMessage = (message) => parent.postMessage(message, "*")</' + "script>" +
        `<script src="${url}"></` + "script>",
      );
      inside.document.close();
      this.ready = new Promise((loaded) => { inside.onload = loaded; });
      addEventListener("message", (event) => {
        if (event.source === inside) {
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        }
      });
    }

    postMessage(data) {
      this.ready.then(() => {
        const message = new MessageEvent("message", { data: structuredClone(data) });
        this.frame.contentWindow.dispatchEvent(message);
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
