/** Text as HTML writes it, as it is. */
export const decoded = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&')

/** The fields of the page's form as a browser would send them. */
export const fieldsOf = (text: string): URLSearchParams => {
  const fields = new URLSearchParams()
  const [, form = ''] = /<form id="policy"[^>]*>([\s\S]*?)<\/form>/.exec(text) ?? []
  for (const [tag, name = ''] of form.matchAll(/<input [^>]*name="([^"]+)"[^>]*>/g)) {
    if (tag.includes('type="checkbox"')) {
      if (tag.includes(' checked')) fields.set(name, 'on')
    } else fields.set(name, decoded(/ value="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('\n', ''))
  }
  // of several lines: the first line feed is dropped, others are sent as CRLF
  for (const [, name = '', value = ''] of form.matchAll(/<textarea [^>]*name="([^"]+)"[^>]*>\n([^<]*)</g))
    fields.set(name, decoded(value).replaceAll('\n', '\r\n'))
  for (const [, name = '', options = ''] of form.matchAll(/<select name="([^"]+)">([\s\S]*?)<\/select>/g))
    fields.set(name, decoded(/value="([^"]*)" selected/.exec(options)?.[1] ?? ''))
  return fields
}
