/*
  Extortion letters and the steps that destroy a computer's own backups.
*/

rule Ransom_Note_Generic
{
  meta:
    description = "A letter in which criminals demand money for your encrypted files."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1486/"
    verdict = "infected"
    family = "ransom-note"
    threat = "Ransom.Note.Generic"
  strings:
    $say1 = /(all|your)( of)?( your)?( important| personal| corporate)? (files|documents|data|network|servers).{0,201}(has|have|had|were|was|are|is)( been)?( now)? (encrypted|locked|stolen)/s nocase
    $forbid1 = /(do not|don.?t|never)( try to)? (rename|modify|move|edit|delete)[^\n]{0,40}(encrypted|locked|files)/ nocase
    $forbid2 = /(do not|don.?t|never)( try to| attempt to)? (decrypt|recover|restore|use)\b[^\n]{0,60}[ '"-](third.?party|other|any|your|software|tools|data)/ nocase
    $forbid3 = /(do not|don.?t) (contact|call|go to|hire|inform)[^\n]{0,40}(police|fbi|authorities|law enforcement|recovery compan|negotiat)/ nocase
    $id = /((your|personal|unique|decryption|victim|client)[ -]{1,2}){1,2}(id|key|code|identifier)[^\n]{0,20}[:=\n]/ nocase
    $reach1 = /tor.?browser/ nocase
    $reach2 = /[a-z2-7]{16,56}\.onion/
    $reach3 = /[a-z0-9._-]{2,40}@(onionmail|proton(mail)?|tutanota|tutamail|cock|airmail|keemail|mailfence|msgsafe|aol|tuta|firemail|cyberfear)\.(org|com|me|li|cc|io|de)/ nocase
    $pay = /(bitcoin|btc|monero|xmr)\b/ nocase
    $proof = /(decrypt|send us).{0,201}files?[^\n]{0,40}(free|guarantee|proof|test)/s nocase
    $leak = /(publish|leak|sell|release|post)[^\n]{0,60}(your|stolen|confidential|the)[^\n]{0,20}(data|files|information|documents)/ nocase
  condition:
    filesize < 64KB and $say1 and any of ($forbid*) and any of ($reach*) and 2 of ($id, $pay, $proof, $leak)
}

rule Ransom_Note_Hidden_Service
{
  meta:
    description = "A letter that sends you to a hidden website to pay for your encrypted files."
    severity = "critical"
    reference = "https://www.cisa.gov/stopransomware"
    verdict = "infected"
    family = "ransom-note"
    threat = "Ransom.Note.HiddenService"
  strings:
    $onion = /(https?:\/\/)?[a-z2-7]{56}\.onion/
    $key = /((personal|decryption|your|company|client|user|chat) (id|key|login|code)|access code|---key---)[ \t]{0,2}[:=>-]{1,4}[ \t\r\n]{0,6}[A-Za-z0-9+\/=-]{16}/ nocase
    $we = /(we (have )?(encrypted|downloaded|stolen|exfiltrated|locked)|your (files|data|network|company)[^\n]{0,30}(encrypted|stolen|compromised|locked))/ nocase
    $decrypt = /decrypt(or|ion|er)?\b/ nocase
    $tor = /torproject\.org|tor.?browser/ nocase
  condition:
    filesize < 64KB and all of them
}

rule Ransom_Note_Named_Gang
{
  meta:
    description = "An extortion letter of a known ransomware gang."
    severity = "critical"
    reference = "https://www.cisa.gov/stopransomware"
    verdict = "infected"
    family = "ransom-note"
    threat = "Ransom.Note.Gang"
  strings:
    $lockbit = /~~~ ?LockBit ?(2\.0|3\.0|4\.0|Black|Green)?[^\n]{0,40}(the world.?s fastest|ransomware since|from 2019)/ nocase
    $wannacry1 = /O{1,3}ps, your (important )?files (are|have been) encrypted!?/ nocase
    $wannacry2 = /(wana|wanna) ?decrypt/ nocase
    $conti = /All of your files are currently encrypted by CONTI (strain|ransomware)/ nocase
    $akira = /Whatever who you are and what your title is if you.re reading this it means the internal infrastructure/ nocase
    $blackbasta = /Your data are stolen and encrypted[^\n]{0,4}\r?\n[^\n]{0,40}The data will be published on TOR website/ nocase
    $revil = /---=== Welcome\. Again\. ===---/
    $ryuk = /(balance of shadow universe|No system is safe)[^\n]{0,40}/ nocase
    $ryuk_name = "Ryuk" fullword
    $phobos = /write to (us|this) (e-?mail|address).{0,201}your ID[^\n]{0,40}title of (your|the) message/s nocase
    $phobos_say = /files have been encrypted (due to a security problem|!)/ nocase
    $article = /(<article|<nav[ >]|<h1)/ nocase
  condition:
    filesize < 64KB and not $article and (
      $lockbit or ($wannacry1 and $wannacry2) or $conti or $akira or $blackbasta or $revil or
      ($ryuk and $ryuk_name) or ($phobos and $phobos_say)
    )
}

rule Ransom_Backup_Destroy_Script
{
  meta:
    description = "A script that deletes the computer's restore points and backups, as ransomware does first."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1490/"
    verdict = "infected"
    family = "ransom-note"
    threat = "Ransom.Script.BackupDestroy"
  strings:
    $shadow = /(^|[\r\n&|"';])[ \t@]{0,8}(cmd(\.exe)?[ \t]{1,4}\/c[ \t]{1,4}["']?)?(start[ \t]{1,4}[^\r\n]{0,20})?[A-Za-z:\\0-9%]{0,40}(vssadmin(\.exe)?[ \t]{1,4}(delete[ \t]{1,4}shadows[ \t]{1,4}\/all|resize[ \t]{1,4}shadowstorage[^\r\n]{1,80}maxsize=401MB)|wmic(\.exe)?[ \t]{1,4}shadowcopy[ \t]{1,4}delete)/ nocase
    $shadow_ps = /Get-(WmiObject|CimInstance)[ \t]{1,4}[^\r\n]{0,20}Win32_Shadow[Cc]opy[^\r\n]{1,60}(\.Delete\(|Remove-)/ nocase
    $boot = /(^|[\r\n&|"';])[ \t@]{0,8}[^\r\n`]{0,40}bcdedit(\.exe)?[ \t]{1,4}[^\r\n]{0,40}\/set[ \t]{1,4}\{?[a-z]{3,10}\}?[ \t]{1,4}(recoveryenabled[ \t]{1,4}no|bootstatuspolicy[ \t]{1,4}ignoreallfailures)/ nocase
    $catalog = /(^|[\r\n&|"';])[ \t@]{0,8}[^\r\n`]{0,40}wbadmin(\.exe)?[ \t]{1,4}[^\r\n]{0,20}delete[ \t]{1,4}(catalog|systemstatebackup|backup)[^\r\n]{0,40}/ nocase
    $logs = /wevtutil(\.exe)?[ \t]{1,4}(cl|clear-log)[ \t]{1,4}["']?(system|security|application)/ nocase
    $batch = /(@echo off|setlocal|taskkill|net stop|powershell)/ nocase
  condition:
    filesize < 256KB and not uint8(0) == 0x3c and not uint8(0) == 0x23 and ($batch or filesize < 1KB) and any of ($shadow, $shadow_ps) and any of ($boot, $catalog, $logs)
}

rule Ransom_Backup_Destroy_Program
{
  meta:
    description = "A program that deletes the computer's restore points and backups, as ransomware does first."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1490/"
    verdict = "infected"
    family = "ransom-note"
    threat = "Ransom.Windows.BackupDestroy"
  strings:
    $shadow = /vssadmin(\.exe)?[ ]{1,4}delete[ ]{1,4}shadows[ ]{1,4}\/all[ ]{1,4}\/quiet/ nocase ascii wide
    $shadow_wmi = /wmic(\.exe)?[ ]{1,4}shadowcopy[ ]{1,4}delete/ nocase ascii wide
    $boot = /bcdedit(\.exe)?[ ]{1,4}\/set[ ]{1,4}\{default\}[ ]{1,4}(recoveryenabled|bootstatuspolicy)/ nocase ascii wide
    $catalog = /wbadmin(\.exe)?[ ]{1,4}delete[ ]{1,4}(catalog|systemstatebackup)/ nocase ascii wide
    $crypt1 = "CryptEncrypt" ascii
    $crypt2 = "BCryptEncrypt" ascii
    $crypt3 = "expand 32-byte k" ascii
    $crypt4 = "CryptGenRandom" ascii
    $crypt5 = "RijndaelManaged" ascii wide
    $crypt6 = "AesCryptoServiceProvider" ascii wide
  condition:
    uint16(0) == 0x5a4d and any of ($shadow, $shadow_wmi) and any of ($boot, $catalog) and any of ($crypt*)
}

rule Ransom_WannaCry_Program
{
  meta:
    description = "The WannaCry ransomware, which spreads by itself and encrypts files."
    severity = "critical"
    reference = "https://attack.mitre.org/software/S0366/"
    verdict = "infected"
    family = "ransom-note"
    threat = "Ransom.Windows.WannaCry"
  strings:
    $a = /iuqerfsodp9ifjaposdfj(hgosurijfaewrwergwea|hgosurijfaewrwergweb)/ ascii wide
    $b = /WNcry[@]2ol7/
    $c = "tasksche.exe" ascii wide
    $d = "mssecsvc.exe" ascii wide
    $e = "taskdl.exe" ascii wide
    $f = /icacls \. \/grant Everyone:F \/T \/C \/Q/
    $g = "WANACRY!"
    $h = "@WanaDecryptor@" ascii wide
  condition:
    uint16(0) == 0x5a4d and 3 of them
}
