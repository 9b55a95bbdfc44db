/*
  Windows shortcuts. The header is 4C 00 00 00 and the class of links ([MS-SHLLINK] 2.1);
  names and arguments are UTF-16.
*/

rule LNK_PowerShell_Download
{
  meta:
    description = "A shortcut that secretly starts PowerShell to download or unpack something."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1204/002/"
    verdict = "infected"
    family = "lnk"
    threat = "Dropper.LNK.PowerShell"
  strings:
    $shell = /(powershell|pwsh|p\^o\^w|pow""ershell)/ nocase wide ascii
    $a = "DownloadString" nocase wide
    $b = "DownloadFile" nocase wide
    $c = "DownloadData" nocase wide
    $d = "Invoke-WebRequest" nocase wide
    $e = "FromBase64String" nocase wide
    $f = "-enc " nocase wide
    $k = "-EncodedCommand" nocase wide
    $g = "Start-BitsTransfer" nocase wide
    $h = /(iwr|irm|curl|wget)[ ]{1,4}[^\r\n]{0,20}https?:\/\// nocase wide
    $i = "ReadAllBytes" nocase wide
    $j = "Invoke-Expression" nocase wide
  condition:
    uint32(0) == 0x0000004c and uint32(4) == 0x00021401 and $shell and any of ($a, $b, $c, $d, $e, $f, $g, $h, $i, $j, $k)
}

rule LNK_Script_Host_Remote
{
  meta:
    description = "A shortcut that runs a page or script straight from the internet."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1218/"
    verdict = "infected"
    family = "lnk"
    threat = "Dropper.LNK.RemoteScript"
  strings:
    $host = /(mshta|regsvr32|rundll32|wscript|cscript|msiexec|certutil|bitsadmin|forfiles|conhost|ssh\.exe|ftp\.exe|msbuild|hh\.exe)/ nocase wide
    $remote = /(https?:\/\/[a-z0-9.-]{3,80}[:\/]|\\\\(([0-9]{1,3}\.){3}[0-9]{1,3}|[a-z0-9.-]{4,60}@(ssl|[0-9]{2,5}))\\)/ nocase wide
  condition:
    uint32(0) == 0x0000004c and uint32(4) == 0x00021401 and $host and $remote
}

rule LNK_Command_Chain
{
  meta:
    description = "A shortcut that runs a chain of hidden system commands instead of opening a file."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/003/"
    verdict = "infected"
    family = "lnk"
    threat = "Dropper.LNK.CommandChain"
  strings:
    $cmd = /(cmd(\.exe)?|%comspec%)/ nocase wide ascii
    $step1 = /(curl(\.exe)?|certutil(\.exe)?|bitsadmin(\.exe)?)[ ]{1,4}[^\r\n]{0,80}https?:\/\// nocase wide
    $step2 = /findstr[^\r\n]{1,80}\.lnk[^\r\n]{0,40}>/ nocase wide
    $step3 = /(copy|expand|type)[ ][^\r\n]{1,123}&[^\r\n]{0,21}(rundll32|regsvr32|wscript|cscript|mshta|start)[ ]/ nocase wide
    $step4 = /start[ ][^\r\n]{0,63}&[^\r\n]{0,21}(rundll32|regsvr32|wscript|cscript|mshta|powershell)/ nocase wide
    $step5 = /pushd[ ]{1,4}\\\\[^\r\n]{3,80}(&|&&)/ nocase wide
  condition:
    uint32(0) == 0x0000004c and uint32(4) == 0x00021401 and $cmd and any of ($step*)
}

rule LNK_Padded_Arguments
{
  meta:
    description = "A shortcut whose real command is pushed out of sight with a long row of blanks."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1027/012/"
    verdict = "infected"
    family = "lnk"
    threat = "Dropper.LNK.PaddedArguments"
  strings:
    $spaces = "                                                                " wide
    $tabs = "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t" wide
    $lines = "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" wide
    $returns = "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n" wide
    $program = /(powershell|cmd\.exe|mshta|rundll32|regsvr32|wscript|cscript|conhost|forfiles)/ nocase wide ascii
  condition:
    uint32(0) == 0x0000004c and uint32(4) == 0x00021401 and $program and any of ($spaces, $tabs, $lines, $returns)
}

rule LNK_Carried_Program
{
  meta:
    description = "A shortcut that is far larger than a shortcut is and carries another file."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1027/012/"
    verdict = "suspicious"
    family = "lnk"
    threat = "Dropper.LNK.CarriedFile"
  strings:
    $stub = "This program cannot be run in DOS mode"
    $pdf = "%PDF-1."
    $cab = { 4D 53 43 46 00 00 00 00 }
    $zip = { 50 4B 03 04 14 00 }
    $hta = "<hta:application" nocase
  condition:
    uint32(0) == 0x0000004c and uint32(4) == 0x00021401 and filesize > 8KB and any of them
}

rule Internet_Shortcut_Remote_Program
{
  meta:
    description = "An internet shortcut that starts a program from someone else's computer."
    severity = "high"
    reference = "https://nvd.nist.gov/vuln/detail/CVE-2024-21412"
    verdict = "infected"
    family = "lnk"
    threat = "Dropper.URL.RemoteProgram"
  strings:
    $section = "[InternetShortcut]" nocase
    $program = /\n[ \t]{0,4}URL[ \t]{0,2}=[ \t]{0,2}(file:[\/\\]{2,5}|\\\\|[\/]{2})(([0-9]{1,3}\.){3}[0-9]{1,3}|[a-z0-9.-]{2,80}@(ssl|[0-9]{2,5})|[a-z0-9-]{1,60}\.[a-z0-9.-]{2,60})(@[0-9a-z]{2,5})?[\/\\][^\r\n]{1,200}\.(exe|scr|pif|bat|cmd|js|jse|vbs|vbe|wsf|wsh|hta|cpl|msi|lnk|url|zip[\/\\][^\r\n]{1,80}|jar|ps1)[ \t]{0,4}(\r|\n|$)/ nocase
  condition:
    filesize < 16KB and $section and $program
}
