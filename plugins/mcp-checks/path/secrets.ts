import type { PicomatchOptions } from 'picomatch'

/** What files of data end in; code that is called after what it handles holds none. */
const DATA = '{json,json5,yml,yaml,toml,ini,cfg,conf,env,properties,txt,csv,xml,plist,db,sqlite,enc,age,gpg,tfrc.json}'

/** Names of files that hold credentials wherever they stand, in small letters. */
const NAMES = [
  // environments
  ...['.env', '.env.*', '*.env', '.envrc', '.dev.vars', '.dev.vars.*', '.flaskenv', 'env.local'],
  // private keys, key stores, wallets
  ...['id_{rsa,dsa,ecdsa,ed25519,xmss}*', '*.{pem,key,p12,pfx,p8,pk8,ppk,der,jwk}', 'ssh_host_*_key'],
  ...['*.{jks,jceks,bcfks,keystore,truststore,kdb,kdbx,keychain,keychain-db,agekey}', '*.{gpg,asc,pgp}', 'secring.*'],
  ...[
    '*.{ovpn,rdp}',
    'wallet.{dat,json}',
    '*.wallet',
    'keystore.properties',
    'keys.txt',
    '{*-,*_,*.,}{key,keyfile}.json',
  ],
  // of version control and package registries
  ...[
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pypirc',
    'pip.conf',
    '.netrc',
    '_netrc',
    '.git-credentials',
    '.gem-credentials',
  ],
  ...[
    'auth.json',
    '.dockercfg',
    '.dockerconfigjson',
    'nuget.config',
    '.hgrc',
    '.bunfig.toml',
    '.gitconfig',
    '.gitcookies',
  ],
  // of clouds, clusters, vaults and infrastructure
  ...[
    '.{credentials,credential,creds}',
    '{credentials,credential,creds}',
    `{.,*-,*_,*.,}{credentials,credential,creds}.${DATA}`,
  ],
  ...['*service{-,_,}account*.json', '*adminsdk*.json', '*client{-,_,}secret*.json', 'application_default_*.json'],
  ...[
    '*.tfstate',
    '*.tfstate.*',
    '*.tfvars',
    '*.tfvars.json',
    '.terraformrc',
    'terraform.rc',
    '.boto',
    '.s3cfg',
    '.passwd-s3fs',
  ],
  ...['kubeconfig', 'kubeconfig.*', '*.kubeconfig', '.vault-token', '.vault{-,_,}pass*', '{vault,ansible}{-,_}pass*'],
  ...[
    '{.,}rclone.conf',
    'local.settings.json',
    'accesstokens.json',
    'azureprofile.json',
    '*.publishsettings',
    'sa.json',
  ],
  // of databases and servers
  ...[
    '.pgpass',
    'pgpass.conf',
    '.my.cnf',
    '.mylogin.cnf',
    '.mongorc.js',
    '{.,}htpasswd',
    '.htdigest',
    'shadow',
    'gshadow',
  ],
  ...[
    'wp-config.php',
    'master.passwd',
    '.smbcredentials',
    '.msmtprc',
    '.fetchmailrc',
    'tnsnames.ora',
    '.ldaprc',
    '.databrickscfg',
  ],
  // what is called a secret
  ...['{.,}{secret,secrets,password,passwords,passwd,token,tokens,apikey,apikeys,api_key,api_keys,api-key,api-keys}'],
  ...[
    `{.,*-,*_,*.,}{secret,secrets,password,passwords,token,tokens,apikey,apikeys,api_key,api_keys,api-key,api-keys}.${DATA}`,
  ],
  // what shells and clients remember of what was typed
  ...['.*_history', '.*history', '.viminfo', '.lesshst'],
  // of agents and their tools
  ...['.claude.json', 'oauth_creds.json', '.curlrc', '.wgetrc'],
  // the gateway's own
  ...['guard-config*', 'guard.db*', 'guard.sqlite*'],
]

/** Places of files that hold credentials under names which say nothing; what is in them, too. */
const PLACES = [
  ...[
    '.ssh',
    '.gnupg',
    '.aws',
    '.azure',
    '.oci',
    '.kube',
    '.docker/{config.json,contexts,machine}',
    '.vault',
    '.secrets',
    '.sops',
  ],
  ...['.config/{gcloud,gh,glab-cli,hub,rclone,op,doctl,sops,google-chrome,chromium}', '.config/containers/auth.json'],
  ...['.git/{config,credentials}', '.git/modules/**/config', '.password-store', '.terraform.d', '.cargo/credentials*'],
  ...['.m2/settings*.xml', '.gradle/gradle.properties', '.gemini/oauth*', '.minikube/{certs,profiles}'],
  ...['.local/share/keyrings', 'library/keychains', '.mozilla', '.thunderbird', '.bitcoin', '.ethereum', '.electrum'],
  ...[
    '.fly/config.yml',
    '.netlify/config.json',
    '.bash_sessions',
    'run/secrets',
    `secrets/**/*.${DATA}`,
    'proc/*/environ',
  ],
]

/** What editors, people and tools put around the name of a file that they keep a copy of. */
const COPY =
  /(?:~|\.(?:bak|backup|old|orig|save|saved|swp|swo|swn|tmp|temp|copy|dist|prev|rej|[0-9]+)|[ _-]copy|\s*\([0-9]+\)|#)+$/
const COPY_HEAD = /^(?:\.?#|\._|copy of )/
const COPY_WITHIN = /(?:[ ._-](?:copy|bak|backup|old|orig)|\s*\([0-9]+\))(?=\.[a-z0-9]+$)/

/** A name as it is, and as that of what it is a copy of; the swap file of an editor has a dot in front. */
const named = (name: string): readonly string[] => {
  const plain = name.replace(COPY, '').replace(COPY_HEAD, '').replace(COPY_WITHIN, '')
  return plain === name ? [name] : [name, plain, plain.replace(/^\./, '')]
}

/** Files that may be read although they are called so. */
const HARMLESS = /^\.env\.(?:example|sample|template|dist|defaults)$|^id_[a-z0-9_]+\.pub$/

/** Says whether a path with slashes is that of a file that may hold secrets, by its name or the place where it is. Case makes no difference. */
export const secretFiles = async (): Promise<(path: string) => boolean> => {
  const { default: picomatch } = await import('picomatch')
  const options: PicomatchOptions = { dot: true, nocase: true }
  const isName = picomatch(NAMES, options)
  const isPlace = picomatch(
    PLACES.flatMap((place) => [place, `**/${place}`, `${place}/**`, `**/${place}/**`]),
    options,
  )
  return (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
    if (isPlace(path)) return true
    return !HARMLESS.test(name) && named(name).some((one) => isName(one))
  }
}

/** The word in a policy that stands for them. */
export const SECRETS = 'secrets'
