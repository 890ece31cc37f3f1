/** Follows a login through the pages of an authorization server as a person does: its links, cookies and forms. Ends where the browser leaves for `until`. */
export const logInByForms = async (address: string, until: string): Promise<string> => {
  const cookies = new Map<string, string>()
  let next: { url: string; body?: URLSearchParams } = { url: address }
  for (let step = 0; step < 20; step++) {
    if (next.url.startsWith(until)) return next.url
    const answer = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(next.body === undefined ? {} : { method: 'POST', body: next.body }),
    })
    keepCookies(cookies, answer)
    const location = answer.headers.get('location')
    if (location !== null) {
      next = { url: new URL(location, next.url).href }
      continue
    }
    next = formIn(await answer.text(), next.url)
  }
  throw new Error('The login does not end.')
}

const keepCookies = (cookies: Map<string, string>, { headers }: Response): void => {
  for (const line of headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === '') cookies.delete(name)
    else cookies.set(name, value)
  }
}

const formIn = (page: string, url: string): { url: string; body: URLSearchParams } => {
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? []
  if (action === undefined)
    throw new Error(`There is no form: ${page.replace(/<style>.*?<\/style>/gs, '').slice(0, 600)}`)
  const body = new URLSearchParams()
  for (const [tag] of page.matchAll(/<input[^>]*>/g)) {
    const [, name] = / name="([^"]*)"/.exec(tag) ?? []
    const [, value = 'ada'] = / value="([^"]*)"/.exec(tag) ?? []
    if (name !== undefined) body.set(name, value)
  }
  return { url: new URL(action, url).href, body }
}
