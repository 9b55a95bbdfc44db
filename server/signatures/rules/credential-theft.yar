/*
  Tools and commands that take passwords, tokens or keys.
*/

rule CredTheft_Mimikatz_Program
{
  meta:
    description = "A well-known tool (Mimikatz) that reads passwords out of Windows memory."
    severity = "critical"
    reference = "https://attack.mitre.org/software/S0002/"
    verdict = "infected"
    family = "credential-theft"
    threat = "HackTool.Windows.Mimikatz"
  strings:
    $a = "gentilkiwi" ascii wide nocase
    $b = "sekurlsa" ascii wide
    $c = "logonpasswords" ascii wide nocase
    $d = /kuhl_m_(sekurlsa|lsadump|kerberos|crypto)/ ascii wide
    $e = "kiwi_msv1_0_credentials" ascii wide
    $f = "A La Vie, A L'Amour" ascii wide
    $g = "mimikatz" ascii wide nocase
  condition:
    uint16(0) == 0x5a4d and 3 of them
}

rule CredTheft_Mimikatz_Script
{
  meta:
    description = "A script that runs Mimikatz to read passwords out of Windows memory."
    severity = "critical"
    reference = "https://attack.mitre.org/software/S0002/"
    verdict = "infected"
    family = "credential-theft"
    threat = "HackTool.Script.Mimikatz"
  strings:
    $function = /(^|\n)[ \t]{0,8}function[ \t]{1,4}Invoke-Mimikatz\b/ nocase
    $body = /(PEBytes64|PEBytes32|Invoke-MemoryLoadLibrary|VirtualAlloc)/
    $line = /(^|[\n&|;])[ \t@]{0,8}[^\n `]{0,80}mimi[a-z0-9_]{0,12}(\.exe)?["']?[ \t].{0,201}(privilege::debug|token::elevate|sekurlsa::[a-z]{3}|lsadump::[a-z]{3})/s nocase
    $call = /(^|[\n&|;])[ \t]{0,8}[^\n`#]{0,200}Invoke-Mimikatz[ \t]{1,4}(-DumpCreds|-DumpCerts|-Command[ \t]{1,4}["'])/ nocase
    $fetch = /(DownloadString|iwr|Invoke-WebRequest|Import-Module|irm)[^\n]/ nocase
  condition:
    not uint8(0) == 0x3c and (
      ($function and $body and filesize < 16MB) or
      ($line and filesize < 8KB) or
      ($call and $fetch and filesize < 8KB)
    )
}

rule CredTheft_LSASS_Dump_Command
{
  meta:
    description = "A command that copies the memory in which Windows keeps passwords."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1003/001/"
    verdict = "infected"
    family = "credential-theft"
    threat = "HackTool.Windows.LsassDump"
  strings:
    $comsvcs = /(^|[\r\n&|("'>=;])[^\r\n`]{0,60}rundll32(\.exe)?["']?[ \t].{0,201}comsvcs(\.dll)?["']?[ \t]{0,2},?[ \t]{0,4}(MiniDump|#\+?0{0,4}24)[ \t].{1,202}[ \t]full/s nocase ascii wide
    $lookup = "lsass" nocase ascii wide
    $procdump = /(^|[\r\n&|"';])[ \t@]{0,8}[^\r\n` ]{0,80}procdump(64)?(\.exe)?["']?[ \t].{0,201}-ma[ \t][^\r\n]{0,30}lsass(\.exe)?[ \t][^\r\n]/s nocase
    $script = /(@echo off|powershell|Invoke-WebRequest|Compress-Archive)/ nocase
  condition:
    filesize < 64KB and not uint8(0) == 0x3c and (($comsvcs and $lookup) or ($procdump and $script))
}

rule CredTheft_Registry_Hives_Save
{
  meta:
    description = "A script that copies the parts of Windows where password hashes are kept."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1003/002/"
    verdict = "infected"
    family = "credential-theft"
    threat = "HackTool.Windows.HiveSave"
  strings:
    $sam = /(^|[\r\n&|"';])[ \t@]{0,8}(cmd(\.exe)?[ \t]{1,4}\/c[ \t]{1,4}["']?)?[A-Za-z:\\0-9%]{0,40}reg(\.exe)?[ \t]{1,4}(save|export)[ \t]{1,4}["']?(hklm|hkey_local_machine)\\sam["']?[ \t]{1,4}/ nocase
    $system = /(^|[\r\n&|"';])[ \t@]{0,8}(cmd(\.exe)?[ \t]{1,4}\/c[ \t]{1,4}["']?)?[A-Za-z:\\0-9%]{0,40}reg(\.exe)?[ \t]{1,4}(save|export)[ \t]{1,4}["']?(hklm|hkey_local_machine)\\(system|security)["']?[ \t]{1,4}/ nocase
    $batch = /(@echo off|setlocal|powershell)/ nocase
  condition:
    filesize < 64KB and $sam and $system and ($batch or filesize < 1KB) and not uint8(0) == 0x3c and not uint8(0) == 0x23
}

rule CredTheft_Domain_Database_Copy
{
  meta:
    description = "A script that copies the database in which a company network keeps its passwords."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1003/003/"
    verdict = "infected"
    family = "credential-theft"
    threat = "HackTool.Windows.NtdsCopy"
  strings:
    $shadow = /(^|[\r\n&|"';])[ \t@]{0,8}[^\r\n` ]{0,40}(vssadmin(\.exe)?[ \t]{1,4}create[ \t]{1,4}shadow|diskshadow(\.exe)?[ \t]{1,4}[\/-]s|wmic[ \t]{1,4}shadowcopy[ \t]{1,4}call[ \t]{1,4}create)/ nocase
    $copy = /(^|[\r\n&|"';])[ \t@]{0,8}(cmd(\.exe)?[ \t]{1,4}\/c[ \t]{1,4}["']?)?(copy|xcopy|robocopy|esentutl)[ \t].{0,201}(HarddiskVolumeShadowCopy|GLOBALROOT|%[a-z]{1,12}%|[a-z]:).{0,201}ntds(\.dit)?/s nocase
  condition:
    filesize < 64KB and $shadow and $copy and not uint8(0) == 0x3c
}

rule CredTheft_Browser_Stealer_Script
{
  meta:
    description = "A script that takes the passwords saved in your browser and sends them away."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1555/003/"
    verdict = "infected"
    family = "credential-theft"
    threat = "Stealer.Script.BrowserPasswords"
  strings:
    $database = /["'\\\/]Login Data["'\\\/]/
    $state = /["'\\\/]Local State["'\\\/]/
    $key1 = "CryptUnprotectData"
    $key2 = "os_crypt"
    $query = /SELECT[ \t]{1,4}[^\n]{0,60}password_value[^\n]{0,60}FROM[ \t]{1,4}logins/ nocase
    $send = /(discord(app)?\.com\/api\/webhooks\/|api\.telegram\.org\/bot|smtplib\.SMTP|requests\.post\(|urlopen\(|ftplib\.FTP|api\.gofile\.io|store[0-9]\.gofile|transfer\.sh|anonfiles|file\.io)/
  condition:
    filesize < 4MB and $database and $state and $query and any of ($key*) and $send and not uint8(0) == 0x3c
}

rule CredTheft_Chat_Token_Grabber
{
  meta:
    description = "A script that steals the sign-in of your chat account and sends it to a stranger."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1528/"
    verdict = "infected"
    family = "credential-theft"
    threat = "Stealer.Script.ChatToken"
  strings:
    $pattern = /\[\\w-\]\{2[34](,2[68])?\}\\\.\[\\w-\]\{6\}\\\.\[\\w-\]\{(27|25,110|38)/
    $pattern_mfa = /mfa\\\.\[\\w-\]\{84\}/
    $pattern_new = "dQw4w9WgXcQ:"
    $store = /leveldb/ nocase
    $send = /(discord(app)?\.com\/api\/(v[0-9]{1,2}\/)?webhooks\/|api\.telegram\.org\/bot)/
  condition:
    filesize < 4MB and any of ($pattern*) and $store and $send
}

rule CredTheft_Linux_Files_Sent
{
  meta:
    description = "A command that sends this computer's password file or private keys to someone else."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1552/001/"
    verdict = "infected"
    family = "credential-theft"
    threat = "Stealer.Linux.FilesSent"
  strings:
    $curl = /(^|[\n;&|(\{"'])[ \t]{0,16}(sudo[ \t]{1,4})?curl[ \t].{0,201}(-F|--form|-d|--data|--data-binary|--data-urlencode|-T|--upload-file)[ \t=]{1,3}["']?([a-z0-9_]{1,16}=)?@?(\/etc\/(shadow|passwd)|~\/\.(ssh\/id_|aws\/credentials|kube\/config|npmrc|netrc|docker\/config)|\$HOME\/\.(ssh\/id_|aws\/credentials|kube\/config|npmrc|netrc)|\/(root|home\/[a-z]{1,20})\/\.(ssh\/id_|aws\/credentials))/s
    $pipe = /(^|[\n;&|(\{"'])[ \t]{0,16}(sudo[ \t]{1,4})?(cat|base64|tar[ \t]{1,4}-?c[a-z]{0,3}[ \t-]{0,4})[ \t]{1,4}[^\n|]{0,60}(\/etc\/shadow|\.ssh\/id_(rsa|ed25519|dsa|ecdsa)|\.aws\/credentials|~\/\.ssh[ \t\/]).{0,202}\|[ \t]{0,2}(curl[^\n|]{0,80}-(d|F|T|-data[a-z-]{0,10})[ \t=@-]|nc[ \t]|ncat[ \t]|netcat[ \t]|wget[^\n|]{0,60}--post)/s
    $subshell = /curl[ \t].{0,201}(\$\(|`)(cat|base64)[ \t][^\n)`]{0,40}(\/etc\/shadow|\.ssh\/id_|\.aws\/credentials)/s
  condition:
    filesize < 1MB and any of them and not uint8(0) == 0x3c
}
