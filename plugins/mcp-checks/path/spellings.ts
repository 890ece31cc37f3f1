const ROUNDS = 3
const MAX_FORMS = 256

const ORDINARY = /^[!#-$&(-:<-_a-z|~][!-$&-:<-z|~]*(?<!["'` ])$/

/**
 * Every text that a server might open instead of the sent one. Transformations: blanks, quotes and invisible
 * characters removed, look-alikes of slashes, backslashes and dots replaced, path parameters and `../` removed,
 * compatibility form, percent-decoding, brace expansion, composed and decomposed accents.
 * Undefined if new texts appear after three rounds, or if there are more than 256.
 */
export const spellingsOf = (text: string): ReadonlySet<string> | undefined => {
  const forms = new Set([text])
  if (ORDINARY.test(text) && !text.includes('...')) return forms
  let fresh: ReadonlySet<string> | undefined = new Set(forms)
  for (let round = 0; round <= ROUNDS; round++) {
    fresh = newReadings(forms, fresh)
    if (fresh?.size === 0)
      return new Set([...forms].flatMap((form) => [form, form.normalize('NFC'), form.normalize('NFD')]))
    if (fresh === undefined || forms.size + fresh.size > MAX_FORMS) return undefined
    for (const form of fresh) forms.add(form)
  }
  return undefined
}

/** New readings of these forms. Undefined if there are too many. */
const newReadings = (known: ReadonlySet<string>, forms: ReadonlySet<string>): ReadonlySet<string> | undefined => {
  const read = [...forms].map(readings)
  return read.includes(undefined)
    ? undefined
    : new Set(read.flatMap((one) => one ?? []).filter((one) => !known.has(one)))
}

const readings = (form: string): readonly string[] | undefined => {
  const parts = inBraces(form)
  if (parts === undefined) return undefined
  const compatible = form.normalize('NFKC')
  return [
    compatible,
    decoded(form),
    decoded(compatible),
    form.replaceAll('\ufffd', ''),
    form.replace(/\p{Default_Ignorable_Code_Point}/gu, ''),
    form.trim(),
    form.trim().replace(/^["'`]|["'`]$/g, ''),
    form
      .replace(/[\u2044\u2215\u29f8]/g, '/')
      .replace(/[\u2216\u29f5\u29f9]/g, '\\')
      .replace(/[\u3002\uff61]/g, '.'),
    form.replace(/(?<! ) +(?=\/|$)/g, ''),
    form.replace(/;[^/]*/g, ''),
    stripped(form),
    ...parts,
  ]
}

const LIST = /\{([^{},]*(?:,[^{},]*)+)\}/

/** Brace expansion, inner lists first: one text per part. Undefined if there are too many. */
const inBraces = (form: string): readonly string[] | undefined => {
  let forms = [form]
  for (;;) {
    const lists = forms.map((one) => LIST.exec(one)?.[1]?.split(','))
    if (lists.every((parts) => parts === undefined)) return forms
    if (lists.reduce((sum, parts) => sum + (parts?.length ?? 1), 0) > MAX_FORMS) return undefined
    forms = forms.flatMap((one, index) => lists[index]?.map((part) => one.replace(LIST, () => part)) ?? one)
  }
}

/** Removes `../` once, like a careless filter, if `..` steps remain after it. */
const stripped = (form: string): string => {
  if (!form.includes('.../') && !form.includes('....')) return form
  const left = form.replaceAll('../', '')
  return /(?:^|\/)\.\.(?:\/|$)/.test(left) ? left : form
}

const ENCODED = /(?:%[0-9a-f]{2})+|%u[0-9a-f]{4}/gi

const decoded = (text: string): string =>
  text.replace(ENCODED, (run) =>
    run[1] === 'u' || run[1] === 'U'
      ? String.fromCharCode(Number.parseInt(run.slice(2), 16))
      : lenientUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')),
  )

/** Decodes UTF-8 like a lenient decoder, overlong sequences included: C0 AF becomes a slash. */
const lenientUtf8 = (bytes: Buffer): string => {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0
    const more = followers(lead)
    const point = more === undefined ? undefined : joined(bytes.subarray(at, at + 1 + more), more)
    text += point === undefined ? '\ufffd' : String.fromCodePoint(point)
    at += point === undefined ? 1 : 1 + (more ?? 0)
  }
  return text
}

/** Number of continuation bytes after a lead byte. Undefined for an invalid lead byte. */
const followers = (lead: number): number | undefined => {
  if (lead < 0x80) return 0
  if (lead < 0xc0 || lead > 0xfd) return undefined
  return Math.clz32(~lead << 24) - 1
}

const joined = (bytes: Buffer, more: number): number | undefined => {
  if (bytes.length !== more + 1) return undefined
  let point = (bytes[0] ?? 0) & (more === 0 ? 0x7f : 0x3f >> more)
  for (const byte of bytes.subarray(1)) {
    if ((byte & 0xc0) !== 0x80) return undefined
    point = (point << 6) | (byte & 0x3f)
  }
  return point > 0x10ffff ? undefined : point
}
