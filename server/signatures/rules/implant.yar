/*
  Remote-control programs, their loaders, and botnet members.
*/

rule Implant_Metasploit_Shellcode_Windows
{
  meta:
    description = "Machine code from an attack tool that fetches and runs more code on Windows."
    severity = "critical"
    reference = "https://attack.mitre.org/software/S0081/"
    verdict = "infected"
    family = "implant"
    threat = "Shellcode.Windows.Metasploit"
  strings:
    // the loop that walks the loaded modules and hashes their names
    $x86 = { 60 89 E5 31 ( C0 | D2 ) 64 8B ( 50 | 52 ) 30 8B 52 0C 8B 52 14 8B 72 28 0F B7 4A 26 31 FF }
    $x64 = { FC 48 83 E4 F0 E8 ( C0 | C8 | CC ) 00 00 00 41 51 41 50 52 }
    $x64_peb = { 56 48 31 D2 65 48 8B 52 60 48 8B 52 18 48 8B 52 20 48 8B 72 50 }
    $base64_1 = "\xfc\x48\x83\xe4\xf0\xe8\xc0\x00\x00\x00\x41\x51\x41\x50\x52" base64
    $base64_2 = "\xfc\xe8\x82\x00\x00\x00\x60\x89\xe5\x31\xc0\x64\x8b\x50\x30" base64
  condition:
    $x86 or ($x64 and $x64_peb) or any of ($base64_*)
}

rule Implant_Metasploit_Shellcode_Linux
{
  meta:
    description = "Machine code from an attack tool that connects this computer to another one."
    severity = "critical"
    reference = "https://docs.metasploit.com/docs/using-metasploit/basics/how-to-use-a-reverse-shell-in-metasploit.html"
    verdict = "infected"
    family = "implant"
    threat = "Shellcode.Linux.Metasploit"
  strings:
    $shell_x64 = { 6A 29 58 99 6A 02 5F 6A 01 5E 0F 05 48 97 48 B9 02 00 }
    $stage_x64 = { 48 31 FF 6A 09 58 99 B6 10 48 89 D6 4D 31 C9 6A 22 41 5A ( 6A 07 | B2 07 ) }
    $shell_x86 = { 31 DB F7 E3 53 43 53 6A 02 89 E1 B0 66 CD 80 }
  condition:
    any of them
}

rule Implant_CobaltStrike_Beacon
{
  meta:
    description = "The remote-control program of the Cobalt Strike attack tool."
    severity = "critical"
    reference = "https://attack.mitre.org/software/S0154/"
    verdict = "infected"
    family = "implant"
    threat = "Backdoor.Windows.CobaltStrike"
  strings:
    $a = /beacon(\.x64)?\.dll\x00/
    $b = "ReflectiveLoader"
    $c = "%02d/%02d/%02d %02d:%02d:%02d"
    $d = "%s as %s\\%s: %d"
    $e = "Started service %s on %s"
    $f = "IEX (New-Object Net.Webclient).Download\x53tring('http://127.0.0.1:%u/')"
    $g = "could not spawn %s (token): %d"
    $h = "I'm already in SMB mode"
    $i = "powershell -nop -exec bypass -EncodedCommand \x22%s\x22"
  condition:
    uint16(0) == 0x5a4d and 4 of them
}

rule Implant_PowerShell_Shellcode_Loader
{
  meta:
    description = "A PowerShell script that writes machine code into memory and starts it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1055/"
    verdict = "infected"
    family = "implant"
    threat = "Loader.PowerShell.Shellcode"
  strings:
    $alloc = /VirtualAlloc(Ex)?\b/ nocase ascii wide
    $thread = /CreateThread\b/ nocase ascii wide
    $delegate = "GetDelegateForFunctionPointer" nocase ascii wide
    $copy = /(\[System\.Runtime\.InteropServices\.)?Marshal\]::Copy\(\$/ nocase ascii wide
    $bytes = /(\[Byte\[\]\][^\n]{0,60}0x[0-9a-f]{2},0x[0-9a-f]{2},0x[0-9a-f]{2},0x[0-9a-f]{2}|FromBase64String\(["'][A-Za-z0-9+\/]{100})/ nocase ascii wide
  condition:
    filesize < 16MB and $alloc and $copy and $bytes and ($thread or $delegate) and not uint16(0) == 0x5a4d
}

rule Botnet_Mirai_ELF
{
  meta:
    description = "A program of the Mirai kind that makes routers and cameras attack other computers."
    severity = "critical"
    reference = "https://www.cisa.gov/news-events/alerts/2016/10/14/heightened-ddos-threat-posed-mirai-and-other-botnets"
    verdict = "infected"
    family = "implant"
    threat = "Botnet.Linux.Mirai"
  strings:
    $a = /\/bin\/busybox (MIRAI|[A-Z]{4,8})\x00/
    $b = /: applet not found/
    $c = "listening tun0"
    $d = "/dev/misc/watchdog"
    $e = "TSource Engine Query"
    $f = "/cdn-cgi/l/chk_captcha"
    $g = /enable\x00(system|shell|sh)\x00/
    $h = "/picsdesc.xml"
    $i = "GET /shell?cd+/tmp;"
    $j = "/ctrlt/DeviceUpgrade_1"
  condition:
    uint32(0) == 0x464c457f and filesize < 4MB and 3 of them
}

rule Botnet_Loader_Script
{
  meta:
    description = "A script that infects a router or server with a program for every kind of processor."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1105/"
    verdict = "infected"
    family = "implant"
    threat = "Botnet.Linux.Loader"
  strings:
    $folders = /cd \/tmp( \|\| cd \/(var\/run|mnt|root|var|dev\/shm|run|var\/tmp|etc|home|opt)\/?){2,8}/
    $fetch = /(wget|curl|tftp|ftpget)[ \t][^\n;]{0,50}([0-9]{1,3}\.){3}[0-9]/
    $run = /chmod[ \t]{1,4}(\+x|777|0777)[ \t]{1,4}[^\n]{1,60}(;|&&)[^\n]{0,8}(sh |\.\/)/
  condition:
    filesize < 64KB and all of them and not uint8(0) == 0x3c
}

rule Implant_Linux_Authorized_Key
{
  meta:
    description = "A script that gives a stranger's key permanent access to the administrator account."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1098/004/"
    verdict = "infected"
    family = "implant"
    threat = "Backdoor.Linux.AuthorizedKey"
  strings:
    $key = /echo[ \t]{1,4}(-e[ \t]{1,4})?["']?[^\n"'>]{0,8}ssh-(rsa|ed25519|dss) AAAA[^\n>]{40,1280}>{1,2}[ \t]{0,4}(\/root|~|\$HOME)\/\.ssh\/authorized_keys/
    $lock = /chattr[ \t]{1,4}(-R[ \t]{1,4})?\+[ia]{1,2}[ \t]{1,4}[^\n]{0,40}(authorized_keys|\.ssh)/
    $hide = /(history -c|unset HISTFILE|HISTFILE=\/dev\/null|rm -rf[ \t]{1,4}[^\n]{0,20}\/var\/log|pkill|crontab -r)/
  condition:
    filesize < 1MB and $key and ($lock or $hide)
}
