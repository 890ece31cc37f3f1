/** Keys whose prefix and length, or a mark inside, only their vendor makes; parts of longer words are none. */
const ISSUED = new RegExp(
  `(?<![A-Za-z0-9])(?:${[
    '(?:guard|gak|mcp)_[\\w-]{43}',
    'sk-ant-(?:api|admin|oat|ort|sid)\\d\\d-[\\w-]{60,}',
    'sk-(?:[a-z]{2,12}-)?[\\w-]{20,}T3BlbkFJ[\\w-]{20,}',
    'github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}',
    'glpat-[\\w-]{20}',
    '(?:AKIA|ASIA)[A-Z2-7]{16}',
    'AIza[\\w-]{35}',
    'xox[abeoprs]-(?:\\d{8,14}-){1,3}[A-Za-z0-9]{20,40}',
    '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{24,128}',
    'SG\\.[\\w-]{22}\\.[\\w-]{43}',
    'hvs\\.[\\w-]{80,}',
    'shp(?:at|ca|pa|ss)_[0-9a-f]{32}',
    'dop_v1_[0-9a-f]{64}',
    'pypi-AgEIcHlwaS5vcmc[\\w-]{50,}',
    'eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{20,}',
  ].join('|')})(?![A-Za-z0-9])`,
)

/** Keys that end in a check sum of what stands before it, as GitHub and npm make them. */
const SUMMED = /(?<![A-Za-z0-9])(?:gh[pousr]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})(?![A-Za-z0-9])/g

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const crc32 = (text: string): number => {
  let sum = 0xffffffff
  for (let at = 0; at < text.length; at++) {
    sum ^= text.charCodeAt(at)
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0)
  }
  return (sum ^ 0xffffffff) >>> 0
}

const checkSum = (text: string): string => {
  let written = ''
  for (let rest = crc32(text); written.length < 6; rest = Math.floor(rest / 62))
    written = DIGITS.charAt(rest % 62) + written
  return written
}

/** The id holds what can only be a key: prefix, length and check sum say so, as far as its vendor has them. */
export const holdsKey = (id: string): boolean =>
  ISSUED.test(id) || Array.from(id.matchAll(SUMMED)).some(([, body = '', sum]) => checkSum(body) === sum)
