// Notifications of the desktop, once somebody has asked for them by one click.

const KEY = 'guard-notify'
/** A notice tells more than that the number has grown, so that is kept quiet for so long after one. */
const QUIET_MS = 5000
let lastNotice = 0

const isPossible = () => 'Notification' in window && isSecureContext

/** Somebody wants to be told, and the browser lets us. */
export const isOptedIn = () =>
  isPossible() && Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on'

/** Whoever looks at this page sees it happen. */
const isLookedAt = () => !document.hidden && document.hasFocus()

/** Tabs that show the same notice share one by its tag. */
const show = (body, tag, path) => {
  const notification = new Notification('Guard', { body, tag })
  notification.onclick = () => {
    notification.close()
    focus()
    location.assign(path)
  }
}

/** Tells of a notice of the stream. */
export const tellNotice = ({ data }) => {
  if (!isOptedIn() || isLookedAt()) return
  const { event, subject, text, path } = JSON.parse(data)
  lastNotice = Date.now()
  show(text, `${event} ${subject}`, path.startsWith('/') && !path.startsWith('//') ? path : '/')
}

/** How many things wait for a person, as the title of a page says. */
const waitingIn = (title) => Number(/^\((\d+)\)/.exec(title)?.[1] ?? 0)

/** Takes the title and the icon over from a page as it is now, and tells when more waits than before: another process may have asked. */
export const updateBadge = (next) => {
  const [before, now] = [waitingIn(document.title), waitingIn(next.title)]
  document.title = next.title
  const icon = 'link[rel="icon"]'
  const href = next.querySelector(icon)?.getAttribute('href')
  const link = document.querySelector(icon)
  if (href && link.getAttribute('href') !== href) link.setAttribute('href', href)
  if (now <= before || !isOptedIn() || isLookedAt() || Date.now() - lastNotice < QUIET_MS) return
  show(now === 1 ? 'One thing waits for you.' : `${now} things wait for you.`, 'waiting', '/')
}

/** The button that turns notifications on and off; `changed` is called when it has. */
export const optIn = (changed) => {
  const button = document.getElementById('notify')
  if (!button || !isPossible() || Notification.permission === 'denied') return
  const mark = () => {
    button.hidden = Notification.permission === 'denied'
    button.setAttribute('aria-pressed', String(isOptedIn()))
  }
  button.addEventListener('click', async () => {
    const turnsOn = !isOptedIn()
    if (turnsOn && Notification.permission !== 'granted') await Notification.requestPermission()
    localStorage.setItem(KEY, turnsOn ? 'on' : 'off')
    mark()
    changed()
  })
  // another tab has turned it on or off
  addEventListener('storage', ({ key }) => {
    if (key !== KEY) return
    mark()
    changed()
  })
  mark()
}
