import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { redactor } from '../../../../plugins/redaction/redact.ts'

const redact = redactor()
const secret = 'hunter2Xyz99'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Places where a password stands by its position, by what puts it there. */
const places: Readonly<Record<string, readonly string[]>> = {
  netrc: [
    `machine api.example.com login bob password ${secret}`,
    `machine api.example.com\n  login bob\n  password ${secret}\n`,
    `machine api.example.com\r\nlogin bob\r\naccount a\r\npassword ${secret}\r\n`,
    `default login anonymous password ${secret}`,
    `machine api.example.com password ${secret} login bob`,
  ],
  pgpass: [
    `db.example.com:5432:app:bob:${secret}`,
    `*:*:*:bob:${secret}`,
    `# all of them\nlocalhost:6543:*:postgres:${secret}\n`,
    `10.0.0.5:15432:app:bob:${secret}`,
  ],
  'an option of one letter': [
    `mysql -ubob -p${secret}`,
    `mysqldump -h db -u root -p'${secret}' app > a.sql`,
    `docker exec db /usr/bin/mysql -uroot -p"${secret}" -e 'select 1'`,
    `mysql -h db \\\n  -u root \\\n  -p${secret}`,
    `sshpass -p ${secret} ssh bob@host`,
    `sshpass -p${secret} scp a b`,
    `redis-cli -h cache -a ${secret} ping`,
    `mongosh -u bob -p ${secret} app`,
    `ldapsearch -x -D cn=a -w ${secret}`,
    `docker login -u bob -p ${secret} registry.example.com`,
    `curl -ubob:${secret} https://example.com`,
    `lftp -u bob,${secret} host`,
    `xfreerdp /u:bob /p:${secret} /v:host`,
  ],
  'a list of arguments': [
    JSON.stringify(['mysql', '-uroot', `-p${secret}`]),
    JSON.stringify(['sudo', 'sshpass', '-p', secret, 'ssh']),
    `['redis-cli', '-a', '${secret}']`,
    `["run", "--password", "${secret}"`,
  ],
  'an argument of its own': [
    `aws configure set aws_secret_access_key ${secret}`,
    `set -gx API_KEY ${secret}`,
    `ENV API_KEY ${secret}`,
    `htpasswd -bc users bob ${secret}`,
    `sqlplus bob/${secret}@orders`,
    `echo '${secret}' | sudo -S ls`,
    `echo "${secret}" | docker login -u bob --password-stdin`,
  ],
  'a statement': [
    `CREATE USER bob IDENTIFIED BY '${secret}'`,
    `ALTER ROLE bob WITH PASSWORD '${secret}'`,
    `SET PASSWORD FOR bob = '${secret}'`,
  ],
  'a configuration': [
    `requirepass ${secret}`,
    `username bob password 7 ${secret}`,
    `USER bob\r\nPASS ${secret}\r\n`,
    `AUTH PLAIN ${base64(`\0bob\0${secret}`)}`,
  ],
  'a user and a password in base64': [
    `{"auths":{"https://index.docker.io/v1/":{"auth":"${base64(`bob:${secret}`)}"}}}`,
    `//registry.example.com/:_auth=${base64(`bob:${secret}`)}`,
  ],
}

describe('a password known by its position', () => {
  for (const [what, texts] of Object.entries(places)) {
    it(`is hidden in ${what}, coloured and in JSON as well`, () => {
      for (const text of texts) {
        for (const written of [text, `\u001b[32m${text}\u001b[0m`, `$ \\u001b[1m${text}`, JSON.stringify({ text })]) {
          const result = redact.text(written)
          for (const form of [secret, base64(`bob:${secret}`), base64(`\0bob\0${secret}`)])
            assert.ok(!result.includes(form), `${written} -> ${result}`)
          assert.equal(redact.text(result), result)
        }
      }
    })
  }
})
