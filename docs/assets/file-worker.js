// Pages that are opened from a folder (file://) may start no worker: this one runs the worker's program in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.onmessage = this.onerror = null
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.importScripts = () => {}
      inside.postMessage = data => void setTimeout(() => this.deliver(data)) // later, as a worker would
      const program = inside.document.createElement("script")
      program.src = new URL(address, location.href)
      program.onload = () => {
        this.ready = true
        for (const data of this.waiting.splice(0)) this.postMessage(data)
      }
      program.onerror = event => this.onerror && this.onerror(event)
      inside.document.body.append(program)
    }
    deliver(data) {
      const event = new MessageEvent("message", { data: structuredClone(data) })
      this.dispatchEvent(event)
      if (this.onmessage) this.onmessage(event)
    }
    postMessage(data) {
      if (!this.ready) return void this.waiting.push(data)
      const inside = this.frame.contentWindow
      const event = new inside.MessageEvent("message", { data: structuredClone(data) })
      setTimeout(() => inside.dispatchEvent(event))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
