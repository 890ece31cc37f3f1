import { commandOf } from './request-command.js'
import { exchange } from './request-exchange.js'
import { requestOf } from './request-form.js'

/** Sends the request of the form on an API page, and keeps its command up to date. Typed keys stay in their fields. */
export const request = (form) => {
  /** @returns {any} */
  const find = (name) => document.querySelector(`[data-request="${name}"]`)
  const [button, stop, as, keys, command, copy] = ['send', 'stop', 'as', 'keys', 'command', 'copy'].map(find)
  const braces = find('braces')
  const guardCommand = JSON.parse(form.dataset.guard ?? 'null')
  const view = Object.fromEntries(
    ['status', 'result', 'headers', 'output', 'download'].map((name) => [name, find(name)]),
  )
  let running

  const write = () => {
    const context = { form, keyCommand: form.dataset.keyCommand, showsKeys: keys?.checked === true, guardCommand }
    copy.dataset.copy = commandOf(as.value, requestOf(form), context)
    command.textContent = copy.dataset.copy
    if (braces) braces.hidden = !/\{\w+\}/.test(command.textContent)
  }

  const run = async () => {
    running = new AbortController()
    button.disabled = true
    stop.hidden = false
    await exchange(requestOf(form), running, view)
    running = undefined
    button.disabled = false
    stop.hidden = true
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (!running) void run()
  })
  stop.addEventListener('click', () => running?.abort())
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    form.requestSubmit()
  })
  form.addEventListener('input', ({ target }) => {
    if (target.matches('[data-request="type"]'))
      for (const part of form.querySelectorAll('[data-body]')) part.hidden = part.dataset.body !== target.value
    write()
  })
  addEventListener('pagehide', () => running?.abort())
  for (const part of form.querySelectorAll('[data-scripted]')) part.hidden = false
  write()
}
