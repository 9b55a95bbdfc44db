/*
  Pages that build a file inside the browser, or talk a person into running a command.
*/

rule HTML_Smuggling_Program
{
  meta:
    description = "A page that builds a Windows program inside the browser and saves it by itself."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1027/006/"
    verdict = "infected"
    family = "html-smuggling"
    threat = "Dropper.HTML.SmuggledProgram"
  strings:
    $script = "<script" nocase
    $blob = /new[ \t]{1,4}(Blob|File)[ \t]{0,4}\(/
    $url = /(createObjectURL|msSaveOrOpenBlob|msSaveBlob)/
    $save = /(\.download[ \t]{0,2}=|setAttribute\([ \t]{0,2}["']download["']|msSave)/
    $program = /["'`]T(VqQAAMAAAAEAAAA|VpQAAIAAAAEAA8A|VroAAAAAAAAAAAA|VoAAAAAAAAAAAAA)/
    $array = /77,[ ]?90,[ ]?144,[ ]?0,[ ]?3,[ ]?0,[ ]?0,[ ]?0,[ ]?4/
    $click = /\.(click|dispatchEvent)\(|msSave/
  condition:
    filesize < 16MB and $script and $blob and $url and $save and $click and ($program or $array)
}

rule HTML_Smuggling_Named_File
{
  meta:
    description = "A page that builds a disk image, script or shortcut inside the browser and saves it by itself."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1027/006/"
    verdict = "infected"
    family = "html-smuggling"
    threat = "Dropper.HTML.SmuggledFile"
  strings:
    $script = "<script" nocase
    $blob = /new[ \t]{1,4}(Blob|File)[ \t]{0,4}\(/
    $url = /(createObjectURL|msSaveOrOpenBlob|msSaveBlob)/
    $decode = /atob\(/
    $name = /(\.download[ \t]{0,2}=[ \t]{0,2}|["']download["'][ \t]{0,2},[ \t]{0,2}|(file|f)?name[ \t]{0,2}=[ \t]{0,2}|msSave[A-Za-z]{1,12}\([^)\n]{1,40},[ \t]{0,2})["'][^"'\n]{1,100}\.(iso|img|vhdx?|exe|scr|js|jse|vbs|vbe|wsf|hta|lnk|bat|cmd|ps1|msi|docm|xlsm|one|cpl)["']/ nocase
    $click = /\.(click|dispatchEvent)\(|msSave/
  condition:
    filesize > 1KB and filesize < 16MB and all of them
}

rule SVG_Script_Smuggling
{
  meta:
    description = "A picture (SVG) with a script that saves a file or sends you to another page."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1027/017/"
    verdict = "infected"
    family = "html-smuggling"
    threat = "Dropper.SVG.Script"
  strings:
    $svg = /<svg[ \t\r\n>]/
    $script = /<script[^>]{0,80}>/
    $decode = /(atob\(|String\.fromCharCode|fromCodePoint|charCodeAt)/
    $send = /(window|top|self|document|parent)?(\.|\[["'])?location(["']\])?(\.(href|assign|replace))?[ \t]{0,2}[=(][ \t]{0,2}(atob|[a-z_$][A-Za-z0-9_$]{0,20}(\(|;|\)|\+))/
    $save = /createObjectURL/
    $click = /\.click\(\)/
  condition:
    filesize < 8MB and $svg in (0..512) and $script and $decode and ($send or ($save and $click))
}

rule HTML_Paste_And_Run
{
  meta:
    description = "A fake check page that puts a command on your clipboard and asks you to run it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1204/004/"
    verdict = "infected"
    family = "html-smuggling"
    threat = "Phish.HTML.PasteAndRun"
  strings:
    $copy = /(clipboard\.writeText|execCommand\([ \t]{0,2}["']copy|clipboardData\.setData)/
    $command = /["'`=+][^"'`\n]{0,40}(powershell|pwsh|mshta|cmd(\.exe)?[ \t]{1,4}\/[ck]|msiexec|curl|conhost)(\.exe)?[ \t].{0,300}(https?:\/\/|-e(nc|ncodedcommand)?[ \t]|iex|hidden|h"|frombase64)/s nocase
    $command_code = /(cG93ZXJzaGVsbC|bXNodGEg|UG93ZXJTaGVsbC|bXNpZXhlYy)[A-Za-z0-9+\/]{20}/
    $ask1 = /(Windows|Win)[ \t]{0,2}(key|button|Key)?[ \t]{0,2}(<[^>]{1,60}>){0,4}[ \t]{0,2}\+[ \t]{0,2}(<[^>]{1,60}>){0,4}[ \t]{0,2}(R|X)\b/ nocase
    $ask2 = /(CTRL|Ctrl)[ \t]{0,2}(<[^>]{1,60}>){0,4}[ \t]{0,2}\+[ \t]{0,2}(<[^>]{1,60}>){0,4}[ \t]{0,2}V\b/ nocase
    $lure = /(not a robot|verif(y|ication)|captcha|human|fix (it|the|this)|how to fix|update required)/ nocase
  condition:
    filesize < 8MB and $copy and ($command or $command_code) and ($ask1 or $ask2) and $lure
}

rule HTML_Search_Protocol_Share
{
  meta:
    description = "A page that opens a folder on someone else's computer as if it were a search on yours."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1204/001/"
    verdict = "infected"
    family = "html-smuggling"
    threat = "Dropper.HTML.SearchProtocol"
  strings:
    $search = /search(-ms)?:[^"'<>\r\n]{0,200}crumb=location:(\\\\|%5c%5c|\/\/|%2f%2f)[^"'<>\r\n]{3,120}/ nocase
    $open = /(location(\.href)?[ \t]{0,2}=|<iframe|http-equiv=["']?refresh|window\.open|<meta)/ nocase
  condition:
    filesize < 1MB and uint8(0) == 0x3c and all of them
}
