import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ConfigError, Path } from './config-errors.ts'

const BLOCK = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g
const BEGIN = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/g

/** PEM certificates of files, relative to a folder, and the errors of unusable files. */
export const certificatesIn = async (
  files: readonly string[],
  folder: string,
  path: Path,
): Promise<{ readonly certificates: readonly string[]; readonly errors: readonly ConfigError[] }> => {
  const read = await Promise.all(files.map((file) => certificatesOf(resolve(folder, file))))
  return {
    certificates: read.flatMap((found) => (typeof found === 'string' ? [] : found)),
    errors: read.flatMap((found, index) =>
      typeof found === 'string' ? [{ path: [...path, index], message: found }] : [],
    ),
  }
}

/** Certificates of a file, or the reason why there is none. */
const certificatesOf = async (file: string): Promise<readonly string[] | string> => {
  let text: string
  try {
    text = await readFile(file, 'latin1')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return `${file} ${unread[code] ?? `cannot be read (${code})`}`
  }
  const blocks = text.match(BLOCK) ?? []
  const begun = text.match(BEGIN)?.length ?? 0
  if (begun > blocks.length) return `${file}: a certificate in it begins and does not end; copy it whole`
  if (blocks.length === 0 && text.includes('PRIVATE KEY-----'))
    return `${file} holds a private key and no certificate; name the file of the authority's certificate`
  if (blocks.length === 0)
    return `${file} holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----; "openssl x509 -inform der -in <file>" writes one out of DER`
  const broken = blocks.findIndex((block) => !isCertificate(block))
  return broken === -1 ? blocks : `${file}: certificate ${broken + 1} of ${blocks.length} is damaged`
}

const unread: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder; name the file in it',
  EACCES: 'may not be read by this user',
}

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
