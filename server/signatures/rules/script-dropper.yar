/*
  Scripts and command lines that fetch or unpack a program and start it unseen.
  One unusual command is at most suspicious; "infected" needs the chain.
*/

rule Dropper_PowerShell_Encoded_Download
{
  meta:
    description = "A PowerShell command whose encoded text downloads and runs something."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/001/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.PowerShell.EncodedDownload"
  strings:
    $flag = /(powershell|pwsh)(\.exe)?["']?[ \t].{0,201}[-\/]e(c|nc|ncod|ncoded|ncodedcommand)?[ \t]{1,4}["']?[A-Za-z0-9+\/]{40}/s nocase ascii wide
    $d1 = "DownloadString" wide base64
    $d2 = "downloadstring" wide base64
    $d3 = "DownloadFile" wide base64
    $d4 = "DownloadData" wide base64
    $d5 = "Invoke-WebRequest" wide base64
    $d6 = "Net.WebClient" wide base64
    $d7 = "net.webclient" wide base64
    $d8 = "FromBase64String" wide base64
    $d9 = "Sockets.TCPClient" wide base64
    $d10 = "VirtualAlloc" wide base64
  condition:
    filesize < 16MB and $flag and any of ($d*)
}

rule Dropper_PowerShell_Hidden_Encoded
{
  meta:
    description = "A PowerShell command that hides both its window and its text."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1564/003/"
    verdict = "suspicious"
    family = "script-dropper"
    threat = "Dropper.PowerShell.HiddenEncoded"
  strings:
    $a = /(powershell|pwsh)(\.exe)?["']?[ \t].{0,201}[-\/]w(i|in|ind|indo|indow|indows|indowst|indowsty|indowstyle)?[ \t]{1,4}(hidden|hid|h|1)[ \t].{0,201}[-\/]e(c|nc|ncodedcommand)?[ \t]{1,4}["']?[A-Za-z0-9+\/]{60}/s nocase
  condition:
    filesize < 16MB and $a
}

rule Dropper_PowerShell_Hidden_Download
{
  meta:
    description = "A PowerShell command with a hidden window that downloads something and runs it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1105/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.PowerShell.HiddenDownload"
  strings:
    $memory = /(powershell|pwsh)(\.exe)?["']?[ \t].{0,201}[-\/]w(i|in|ind|indo|indow|indowstyle)?[ \t]{1,4}(hidden|hid|h|1)[ \t].{0,300}(iex|invoke-expression).{0,201}(downloadstring|downloaddata|invoke-webrequest|iwr|irm|invoke-restmethod).{1,202}h(tt|xx)ps?:\/\//s nocase ascii wide
    $memory_pipe = /(powershell|pwsh)(\.exe)?["']?[ \t].{0,201}[-\/]w(i|in|ind|indo|indow|indowstyle)?[ \t]{1,4}(hidden|hid|h|1)[ \t].{0,300}(downloadstring|invoke-webrequest|iwr|irm|invoke-restmethod).{1,202}https?:\/\/.{3,204}\|[ \t]{0,4}(iex|invoke-expression)/s nocase ascii wide
    $file = /(powershell|pwsh)(\.exe)?["']?[ \t].{0,201}[-\/]w(i|in|ind|indo|indow|indowstyle)?[ \t]{1,4}(hidden|hid|h|1)[ \t].{0,201}(downloadfile|invoke-webrequest|iwr|start-bitstransfer).{1,202}https?:\/\/.{3,300}(start-process|saps|start |;[ \t]{0,2}&|invoke-item|;[ \t]{0,2}\$env:)/s nocase ascii wide
  condition:
    filesize < 16MB and any of them
}

rule Dropper_PowerShell_AMSI_Bypass
{
  meta:
    description = "A PowerShell script that switches off the virus check of Windows before it goes on."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1562/001/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.PowerShell.AmsiBypass"
  strings:
    $field = /\.GetField\([ \t]{0,2}["']ams["'+ \t]{0,6}iInit["'+ \t]{0,6}Failed["'][^\r\n]{1,80}SetValue\([ \t]{0,2}\$null[ \t]{0,2},[ \t]{0,2}(\$true|1|!0)/ nocase ascii wide
    $context = /\.GetField\([ \t]{0,2}["']ams["'+ \t]{0,6}i(Context|Session)["'][^\r\n]{1,80}(SetValue|GetValue)\([ \t]{0,2}\$null/ nocase ascii wide
    $patch1 = /GetProcAddress[^\r\n]{1,80}["']Amsi["'+ \t]{0,6}Scan["'+ \t]{0,6}Buffer["']/ nocase ascii wide
    $patch2 = /VirtualProtect\b/ nocase ascii wide
    $patch3 = /0xB8[, ]{1,3}0x57[, ]{1,3}0x00[, ]{1,3}0x07[, ]{1,3}0x80[, ]{1,3}0xC3/ nocase ascii wide
  condition:
    filesize < 16MB and not uint16(0) == 0x5a4d and ($field or $context or ($patch1 and $patch2 and $patch3))
}

rule Dropper_PowerShell_Assembly_From_Text
{
  meta:
    description = "A PowerShell script that turns a long text into a program and runs it in memory."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1620/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.PowerShell.AssemblyFromText"
  strings:
    $load = /Assembly\]::Load\([ \t]{0,2}(\$[A-Za-z0-9_]{1,24}|\[(System\.)?Convert\]::FromBase64String\()/ nocase ascii wide
    $decode = /\[(System\.)?Convert\]::FromBase64String\(/ nocase ascii wide
    $run = /(\.EntryPoint\.Invoke\(|\.GetMethod\([^\r\n]{1,40}\)\.Invoke\([ \t]{0,2}\$null)/ nocase ascii wide
    $exe1 = /["']T(VqQAAMAAAAEAAAA|VpQAAIAAAAEAA8A|VroAAAAAAAAAAAA|VoAAAAAAAAAAAAA)/ ascii wide
    $exe2 = /["']A{6,14}QqVT["']/ ascii wide
    $exe3 = /["']H4sIA[A-Za-z0-9+\/]{200}/ ascii wide
    $reverse = "[Array]::Reverse" nocase ascii wide
  condition:
    filesize < 16MB and not uint16(0) == 0x5a4d and $load and $decode and $run and (any of ($exe*) or $reverse)
}

rule Dropper_Defender_Disable_Download
{
  meta:
    description = "A script that switches the virus protection of Windows off and then downloads a program."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1562/001/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Windows.DefenderDisable"
  strings:
    $off1 = /(^|[\n;&|"'])[^\n#]{0,80}Set-MpPreference.{1,202}-DisableRealtimeMonitoring[ \t:]{1,3}(\$true|1)/s nocase
    $off2 = /(^|[\n;&|"'])[^\n#]{0,80}Add-MpPreference[^\n]{1,20}-Exclusion(Path|Process|Extension)[ \t][^\n]{0,14}(C:\\?["' ,\r\n]|\$env:(temp|appdata|localappdata|public|programdata|userprofile)|%(temp|appdata|userprofile|public)%|["'.]{0,2}exe["'\r\n ])/ nocase
    $fetch = /(DownloadFile|DownloadString|Invoke-WebRequest|Start-BitsTransfer|certutil[^\n]{1,20}urlcache|curl(\.exe)?[ \t][^\n]{0,40}-o).{1,202}https?:\/\/.{4,205}(\.(exe|dll|bat|ps1|scr|vbs|zip|bin)|\/raw\/)/s nocase
    $run = /[\n;&|][ \t]{0,8}(Start-Process|start[ \t]{1,2}[%"'$\/A-Za-z]|Invoke-Expression|Invoke-Item|rundll32|cmd(\.exe)?[ \t]\/c)/ nocase
  condition:
    filesize < 1MB and any of ($off*) and $fetch and $run and not uint8(0) == 0x3c
}

rule Dropper_Mshta_Inline_Script
{
  meta:
    description = "A command that runs a hidden script through a part of Windows made for help pages."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1218/005/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Windows.MshtaScript"
  strings:
    $a = /(^|[\r\n&|("'>=])[^\r\n`]{0,60}mshta(\.exe)?["']?[ \t]{1,4}["']{0,2}(vbscript|javascript|about):.{0,201}(CreateObject|ActiveXObject|GetObject|Execute|eval)[ \t]{0,2}\(.{0,201}(\.run|\.exec|shell|script:https?)/s nocase ascii wide
  condition:
    filesize < 16MB and $a
}

rule Dropper_Mshta_Remote
{
  meta:
    description = "A command that opens a program page straight from the internet."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1218/005/"
    verdict = "suspicious"
    family = "script-dropper"
    threat = "Dropper.Windows.MshtaRemote"
  strings:
    $a = /(^|[\r\n&|("'>=])[ \t]{0,8}(start[ \t]{1,4}|cmd(\.exe)?[ \t]{1,4}\/c[ \t]{1,4}["']?){0,2}[A-Za-z:\\0-9%]{0,40}mshta(\.exe)?["']?[ \t]{1,4}["']?https?:\/\/[a-z0-9]/ nocase ascii wide
  condition:
    filesize < 16MB and $a
}

rule Dropper_Certutil_Download_Run
{
  meta:
    description = "A command that misuses a Windows certificate tool to download a program and start it."
    severity = "critical"
    reference = "https://attack.mitre.org/software/S0160/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Windows.CertutilDownload"
  strings:
    $chain = /certutil(\.exe)?["']?[ \t][^\r\n]{0,43}[-\/](urlcache|verifyctl)[ \t][^\r\n]{0,43}https?:\/\/.{4,205}(&|\|\||;)[^\r\n]{0,45}(start|cmd|rundll32|regsvr32|wscript|cscript|powershell|\.exe|\.bat|\.dll)/s nocase ascii wide
    $lines = /certutil(\.exe)?["']?[ \t][^\r\n]{0,43}[-\/](urlcache|verifyctl)[ \t][^\r\n]{0,43}https?:\/\/.{4,205}\.(exe|scr|dll|bat|vbs|js|hta|bin|dat|png|jpg|txt).{1,340}\n[^\r\n]{0,20}(start|call|rundll32|regsvr32|wscript|cscript|%temp%\\|%appdata%\\|%public%\\|c:\\users\\public\\)/s nocase
  condition:
    filesize < 4MB and any of them
}

rule Dropper_Certutil_Decode_Run
{
  meta:
    description = "A script that carries a program as text, unpacks it with a Windows tool, and starts it."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1140/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Windows.CertutilDecode"
  strings:
    $decode = /certutil(\.exe)?["']?[ \t]{1,4}(-f[ \t]{1,4})?[-\/]decode(hex)?[ \t]{1,4}(-f[ \t]{1,4})?.{1,202}\.(exe|dll|scr|bat|cmd|vbs|js|ps1|hta)/s nocase
    $carried1 = /(echo[ \t]{1,2}|\n|")T(VqQAAMAAAAEAAAA|VpQAAIAAAAEAA8A|VroAAAAAAAAAAAA|VoAAAAAAAAAAAAA)/
    $carried2 = /-{5}BEGIN CERTIFICATE-{5}[ \t>]{0,4}.{0,201}\r?\n(echo[ \t]{1,2})?T(VqQ|VpQ|Vro|VoA)/s
    $run = /(^|[\r\n&])[ \t]{0,8}(start |call |cmd \/c|rundll32|regsvr32|wscript|cscript|%temp%\\|%appdata%\\|%~dp0|powershell).{1,202}/s nocase
  condition:
    filesize < 16MB and $decode and $run and any of ($carried*)
}

rule Dropper_Bitsadmin_Download_Run
{
  meta:
    description = "A command that misuses the Windows update transfer service to download a program and start it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1197/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Windows.BitsadminDownload"
  strings:
    $chain = /bitsadmin(\.exe)?["']?[ \t][^\r\n]{0,63}\/transfer[ \t].{0,201}https?:\/\/.{4,205}\.(exe|scr|dll|bat|vbs|js|hta|ps1).{0,201}(&|\n)[ \t]{0,4}(start|call|cmd|rundll32|regsvr32|wscript|cscript|"?%temp%|"?%appdata%|"?%public%|"?c:\\users\\public)/s nocase
    $notify = /bitsadmin(\.exe)?["']?[ \t]{1,4}\/setnotifycmdline[ \t][^\r\n]{1,43}[ \t](cmd|powershell|rundll32|regsvr32|mshta|wscript)/ nocase
    $notify_file = /bitsadmin(\.exe)?["']?[ \t]{1,4}\/setnotifycmdline[ \t].{1,202}\.exe/s nocase
    $addfile = /bitsadmin(\.exe)?["']?[ \t]{1,4}\/addfile[ \t].{1,202}https?:\/\//s nocase
  condition:
    filesize < 4MB and ($chain or (any of ($notify*) and $addfile))
}

rule Dropper_Regsvr32_Scriptlet
{
  meta:
    description = "A command that makes Windows run a script straight from the internet."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1218/010/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Windows.Regsvr32Scriptlet"
  strings:
    $a = /(^|[\r\n&|("'>=])[ \t]{0,8}(start[ \t]{1,4}|cmd(\.exe)?[ \t]{1,4}\/c[ \t]{1,4}["']?){0,2}[A-Za-z:\\0-9%]{0,40}regsvr32(\.exe)?["']?[ \t][^\r\n]{0,43}\/i:["']?https?:\/\/.{3,204}scrobj(\.dll)?/s nocase ascii wide
  condition:
    filesize < 16MB and $a
}

rule Dropper_Rundll32_Javascript
{
  meta:
    description = "A command that makes a Windows system program run a hidden script."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1218/011/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Windows.Rundll32Script"
  strings:
    $a = /(^|[\r\n&|("'>=])[ \t]{0,8}(start[ \t]{1,4}|cmd(\.exe)?[ \t]{1,4}\/c[ \t]{1,4}["']?){0,2}[A-Za-z:\\0-9%]{0,40}rundll32(\.exe)?["']?[ \t]{1,4}["']?(javascript|vbscript):[^\r\n]{0,20}mshtml[ ,][^\r\n]{0,20}RunHTMLApplication[^\r\n]{1,200}(GetObject|ActiveXObject|eval|document\.write|CreateObject)/ nocase ascii wide
  condition:
    filesize < 16MB and $a
}

rule Dropper_WScript_Download_Run
{
  meta:
    description = "A Windows script that downloads a file to a temporary folder and starts it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/005/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.WScript.DownloadRun"
  strings:
    $http = /(CreateObject|ActiveXObject)[ \t]{0,2}\([ \t]{0,2}["'](MSXML2\.(Server)?XMLHTTP|Microsoft\.XMLHTTP|WinHttp\.WinHttpRequest)/ nocase
    $stream = /(CreateObject|ActiveXObject)[ \t]{0,2}\([ \t]{0,2}["']ADODB\.Stream["']/ nocase
    $save = /\.SaveToFile\b/ nocase
    $place = /(%temp%|%appdata%|%localappdata%|%public%|%programdata%|GetSpecialFolder[ \t]{0,2}\([ \t]{0,2}2|Environ(ment)?[$]?\([ \t]{0,2}["'](temp|tmp|appdata|process|public)|c:\\{1,2}(users\\{1,2}public|programdata|windows\\{1,2}temp)|\/tmp\/)/ nocase
    $run = /(\.(run|exec|ShellExecute)[ \t]{0,2}\(?[ \t]{0,2}[A-Za-z"'])/ nocase
    $shell = /(WScript\.Shell|Shell\.Application)["']/ nocase
    $exe = /\.(exe|scr|dll|bat|cmd|vbs|vbe|js|jse|msi|pif|hta|ps1)["']/ nocase
  condition:
    filesize < 2MB and all of them
}

rule Dropper_HTA_Hidden_Command
{
  meta:
    description = "A program page that starts hidden system commands as soon as it is opened."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1218/005/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.HTA.HiddenCommand"
  strings:
    $hta = /<(hta:application|script[^>]{0,40}(vbscript|jscript|javascript))/ nocase
    $shell = /(CreateObject|ActiveXObject)[ \t]{0,2}\([ \t]{0,2}["'](WScript\.Shell|Shell\.Application)["']/ nocase
    $run = /\.(run|exec|ShellExecute)[ \t(]{1,4}.{0,201}(powershell|cmd(\.exe)?[ \t]{1,4}\/c|mshta|regsvr32|rundll32|certutil|bitsadmin|wscript|cscript).{1,1000}(,[ \t]{0,2}0\b|hidden|https?:\/\/|-e(nc|ncodedcommand)?[ \t])/s nocase
    $close = /(window|self)\.(close|moveTo|resizeTo)\b/ nocase
  condition:
    filesize < 4MB and all of them
}

rule Dropper_JScript_Encoded_File
{
  meta:
    description = "A Windows script saved in an unreadable encoded form."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1027/"
    verdict = "suspicious"
    family = "script-dropper"
    threat = "Dropper.WScript.Encoded"
  strings:
    $encoded = /^#@~\^[A-Za-z0-9+\/]{6}==/
    $trailer = /==\^#~@/
  condition:
    filesize < 4MB and $encoded at 0 and $trailer
}

rule Dropper_Shell_Cron_Download
{
  meta:
    description = "A script that makes this computer fetch and run someone's commands every few minutes."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1053/003/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Linux.CronDownload"
  strings:
    $ip = /\*(\/[0-9]{1,2})?[ \t]{1,2}\*[ \t]{1,2}\*[ \t]{1,2}\*[ \t]{1,2}\*[ \t]{1,4}(root[ \t]{1,4})?[^\n#]{0,40}(curl|wget)[ \t][^\n|]{0,60}(https?:\/\/)?([0-9]{1,3}\.){3}[0-9]{1,3}[^\n|]{0,80}\|[ \t]{0,2}(\/bin\/)?(ba)?sh/
    $either = /\*(\/[0-9]{1,2})?[ \t]{1,2}\*[ \t]{1,2}\*[ \t]{1,2}\*[ \t]{1,2}\*[ \t]{1,4}(root[ \t]{1,4})?[^\n#]{0,20}\([ \t]{0,2}(curl|wget)[ \t][^\n|]{4,160}\|\|[ \t]{0,2}(wget|curl)[ \t][^\n|]{4,160}\)[ \t]{0,2}\|[ \t]{0,2}(\/bin\/)?(ba)?sh/
  condition:
    filesize < 1MB and any of them and not uint8(0) == 0x3c
}

rule Dropper_Python_Encoded_Exec
{
  meta:
    description = "A Python program that hides its real code as encoded text and runs it."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1027/"
    verdict = "suspicious"
    family = "script-dropper"
    threat = "Dropper.Python.EncodedExec"
  strings:
    $a = /exec\([ \t]{0,2}(compile\()?[ \t]{0,2}(__import__\(["'](base64|zlib|marshal|codecs)["']\)|base64|zlib|marshal|codecs)\.(b64decode|b32decode|b85decode|decompress|loads|decode)\([^\n]{0,60}(["'][A-Za-z0-9+\/=]{80}|b["']\\x[0-9a-f]{2})/
    $b = /_[ \t]?=[ \t]?lambda[ \t]__[ \t]?:[ \t]?__import__\(["']zlib["']\)\.decompress\(__import__\(["']base64["']\)\.b64decode\(__\[::-1\]\)\)/
  condition:
    filesize < 16MB and any of them
}

rule Dropper_Package_Install_Script
{
  meta:
    description = "A software package that runs commands from the internet or sends out your data while it is installed."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1195/002/"
    verdict = "infected"
    family = "script-dropper"
    threat = "Dropper.Package.InstallScript"
  strings:
    $hook_pipe = /"(pre|post)?install"[ \t]{0,4}:[ \t]{0,4}"[^"\n]{0,80}(curl|wget)[^"\n|]{1,160}(([0-9]{1,3}\.){3}[0-9]{1,3}|pastebin\.com|paste\.ee|transfer\.sh|ngrok\.io|ngrok-free\.app|trycloudflare\.com)[^"\n|]{0,120}\|[ \t]{0,2}(ba|z)?sh/
    $hook_send = /"(pre|post)?install"[ \t]{0,4}:[ \t]{0,4}"[^"\n]{0,120}(curl|wget|nslookup|ping)[^"\n]{1,200}(\$\(|`)(whoami|hostname|id|pwd|cat |env|printenv|uname)[^"\n]{0,200}/
    $hook_oast = /"(pre|post)?install"[ \t]{0,4}:[ \t]{0,4}"[^"\n]{1,200}\.(oast\.(fun|me|pro|live|site|online)|burpcollaborator\.net|oastify\.com|interact\.sh|pipedream\.net|requestcatcher\.com|webhook\.site)/
    $package = /"(name|version)"[ \t]{0,4}:/
  condition:
    filesize < 256KB and $package and any of ($hook_*)
}

rule Dropper_JNDI_Lookup
{
  meta:
    description = "Text that tries to make a Java server load a program from another computer (Log4Shell)."
    severity = "medium"
    reference = "https://nvd.nist.gov/vuln/detail/CVE-2021-44228"
    verdict = "suspicious"
    family = "script-dropper"
    threat = "Exploit.Java.JndiLookup"
  strings:
    $plain = /\$\{jndi:(ldaps?|rmi|dns|iiop|nds|corba):[\/]{2}([0-9]{1,3}\.){3}[0-9]{1,3}[:\/]/ nocase
    $nested = /\$\{(\$\{(lower|upper|env|sys|::)?:?[^}\n]{0,12}-?:?-?[jndiJNDI]\}){2}[^\n]{0,160}:[\/]{2}/
  condition:
    filesize < 16MB and any of them
}
