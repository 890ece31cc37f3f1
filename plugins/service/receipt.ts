import { sha256 } from '#lib/ids'

/** Stands in a comment of a generated file; the receipt takes its place. */
export const RECEIPT = 'guard-service {}'

/** What a generated file says of itself. */
export interface Receipt {
  /** Absolute path of the configuration file. */
  readonly config: string
  /** Nobody has edited the file. */
  readonly intact: boolean
}

const FORM = /guard-service (\{"config":".*","seal":"[0-9a-f]{16}"\})/

const sealOf = (text: string, config: string): string => sha256(`${config}\n${text}`).slice(0, 16)

/** Puts the receipt into a text. It fits into comments of units and of XML, which hold no `--`. */
export const sealed = (text: string, config: string): string => {
  const receipt = JSON.stringify({ config, seal: sealOf(text, config) }).replaceAll('-', '\\u002d')
  return text.replace(RECEIPT, () => `guard-service ${receipt}`)
}

/** The receipt in a text; undefined if it has none: then somebody else wrote it. */
export const receiptIn = (text: string): Receipt | undefined => {
  const [found, json = ''] = FORM.exec(text) ?? []
  if (found === undefined) return undefined
  try {
    const { config, seal } = JSON.parse(json) as { readonly config: string; readonly seal: string }
    return {
      config,
      intact:
        seal ===
        sealOf(
          text.replace(found, () => RECEIPT),
          config,
        ),
    }
  } catch {
    return undefined
  }
}
