import { lettersOf } from './option-clusters.ts'

type Words = readonly (string | undefined)[]

/** Outputs that store nothing. */
const STANDARD_OUTPUT = /^(?:-|\/dev\/(?:null|stdout|stderr))$/

const CURL_VALUED = 'AbcCdDeEFHhKmoPQrtTuUwxXyYz'
/** Long curl options that write a file, or read further options from one. */
const CURL =
  /^--(?:output-dir|out-d|remote-n|remote-header|dump-|cookie-j|conf|trace(?!-(?:time|ids|config))|libcurl|stderr|etag-s|hsts|alt-svc)/

const curlHasSideEffects = (args: Words): boolean =>
  lettersOf(args, CURL_VALUED).some(
    ([letter, value]) => 'OJK'.includes(letter) || ('oDc'.includes(letter) && !STANDARD_OUTPUT.test(value ?? '')),
  ) ||
  args.some((word = '', at) => {
    if (/%output\{/.test(word) || CURL.test(word)) return true
    const [name = '', ...rest] = word.split('=')
    const isOutput = name.length > 4 && '--output'.startsWith(name)
    return isOutput && !STANDARD_OUTPUT.test((rest.length > 0 ? rest.join('=') : args[at + 1]) ?? '')
  })

const WGET_VALUED = 'aoeitTOPlADRIXUwQB'
const WGET = /^--(?:output-[df]|append-o|directory-p|execute|warc|save-c|config|rejected-l|hsts-f|load-c|input-m)/
/** Harmless wget settings. */
const WGET_PLAIN = /^(?:robots|timeout|tries|wait|quiet|check_certificate|user_agent)\s*=/

const wgetHasSideEffects = (args: Words): boolean =>
  lettersOf(args, WGET_VALUED).some(
    ([letter, value = '']) =>
      ('Ooa'.includes(letter) && !STANDARD_OUTPUT.test(value)) ||
      letter === 'P' ||
      (letter === 'e' && !WGET_PLAIN.test(value)),
  ) ||
  args.some((word = '', at) => {
    if (!WGET.test(word)) return false
    const [name = '', ...rest] = word.split('=')
    const value = (rest.length > 0 ? rest.join('=') : args[at + 1]) ?? ''
    if (name === '--execute') return !WGET_PLAIN.test(value)
    return !(/^--output-[df]/.test(name) && STANDARD_OUTPUT.test(value))
  })

/** True if curl or wget writes a file, or reads options from one. */
export const transferHasSideEffects = (program: string, args: Words): boolean =>
  program === 'curl' ? curlHasSideEffects(args) : program === 'wget' && wgetHasSideEffects(args)
