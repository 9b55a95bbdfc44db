/*
  PDF files with actions that reach outside the document.
  The header may stand anywhere in the first 1,024 bytes (ISO 32000, implementation notes).
*/

rule PDF_Launch_Command
{
  meta:
    description = "A PDF that asks to start a program or system command when it is opened."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1204/002/"
    verdict = "infected"
    family = "pdf"
    threat = "Exploit.PDF.LaunchCommand"
  strings:
    $pdf = "%PDF-"
    $launch = /\/S[ \t\r\n]{0,4}\/Launch\b.{0,300}F[ \t\r\n]{0,4}\([^)]{0,80}(cmd(\.exe)?|powershell|mshta|wscript|cscript|rundll32|regsvr32|certutil|\.exe|\.vbs|\.js|\.bat|\.hta|\.ps1|\/bin\/(ba)?sh)[^)]{0,40}\)/s nocase
  condition:
    $pdf in (0..1024) and $launch
}

rule PDF_Launch_Action
{
  meta:
    description = "A PDF that asks to open another file by itself."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1204/002/"
    verdict = "suspicious"
    family = "pdf"
    threat = "PDF.LaunchAction"
  strings:
    $pdf = "%PDF-"
    $launch = /\/S[ \t\r\n]{0,4}\/Launch\b/
    $auto = /\/(OpenAction|AA)[ \t\r\n]{0,4}(<<|[0-9])/
  condition:
    $pdf in (0..1024) and $launch and $auto
}

rule PDF_Attachment_Auto_Open
{
  meta:
    description = "A PDF that drops an attached program or macro document and opens it by itself."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1204/002/"
    verdict = "infected"
    family = "pdf"
    threat = "Dropper.PDF.AttachmentAutoOpen"
  strings:
    $pdf = "%PDF-"
    $export = /exportDataObject[ \t\r\n\\]{0,4}\(?[ \t\r\n\\(]{0,4}\{[^}]{0,200}nLaunch[ \t]{0,2}:[ \t]{0,2}[12]/
    $file = /\/(F|UF)[ \t\r\n]{0,4}\([^)]{1,160}\.(exe|scr|com|pif|bat|cmd|js|jse|vbs|vbe|wsf|hta|ps1|lnk|msi|docm|xlsm|pptm|dotm|iso|img|jar|settingcontent-ms|library-ms)\)/ nocase
    $attachment = "/EmbeddedFile"
  condition:
    $pdf in (0..1024) and all of them
}

rule PDF_Script_Heap_Spray
{
  meta:
    description = "A PDF with a script written to break the PDF reader and run machine code."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1203/"
    verdict = "infected"
    family = "pdf"
    threat = "Exploit.PDF.ScriptSpray"
  strings:
    $pdf = "%PDF-"
    $js = /\/(JavaScript|JS)[ \t\r\n(<\/]/
    $spray = /unescape[ \t]{0,4}\([ \t]{0,4}["'](%u[0-9a-f]{4}){4}/ nocase
    $sled = /(%u9090|%u0c0c|%u0a0a|%u4141){2}/ nocase
    $bug1 = "Collab.collectEmailInfo"
    $bug2 = "Collab.getIcon"
    $bug3 = "media.newPlayer"
    $bug4 = /util\.printf\([ \t]{0,2}["']%[0-9]{4,6}f/
    $bug5 = "spell.customDictionaryOpen"
    $bug6 = "getAnnots("
    $grow = /while[ \t]{0,2}\([a-z0-9_]{1,20}\.length[ \t]{0,2}<[=]?[ \t]{0,2}(0x[0-9a-f]{4,8}|[0-9]{4,8})/ nocase
  condition:
    $pdf in (0..1024) and $js and $spray and ($sled or $grow or any of ($bug*))
}

rule PDF_Remote_Share
{
  meta:
    description = "A PDF that contacts another computer when it is opened, to steal the Windows password hash."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1187/"
    verdict = "infected"
    family = "pdf"
    threat = "Exploit.PDF.RemoteShare"
  strings:
    $pdf = "%PDF-"
    $auto = /\/(OpenAction|AA|O)[ \t\r\n]{0,4}<</
    $share = /\/S[ \t\r\n]{0,4}\/Go(ToE|ToR)\b.{0,201}\/F[ \t\r\n]{0,4}\(\\{2,4}(([0-9]{1,3}\.){3}[0-9]{1,3}|[a-z0-9.-]{4,80})\\{1,2}/s nocase
    $share_first = /\/F[ \t\r\n]{0,4}\(\\{2,4}(([0-9]{1,3}\.){3}[0-9]{1,3}|[a-z0-9.-]{4,80})\\{1,2}.{0,201}\/S[ \t\r\n]{0,4}\/Go(ToE|ToR)\b/s nocase
  condition:
    $pdf in (0..1024) and $auto and any of ($share*)
}

rule PDF_Hidden_Names
{
  meta:
    description = "A PDF that writes the names of its actions in code so that scanners overlook them."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1027/"
    verdict = "suspicious"
    family = "pdf"
    threat = "PDF.HiddenNames"
  strings:
    $pdf = "%PDF-"
    $js = /\/(#4a(a|#61|s|#53)|J#61|Ja#76|Jav#61|Java#53|JavaS#63|JavaSc#72|JavaScr#69|JavaScri#70|JavaScrip#74)/ nocase
    $open = /\/(#4fp|#4f#70|O#70|Op#65|Ope#6e|Open#41|OpenA#63|OpenAc#74|OpenAct#69|OpenActi#6f|OpenActio#6e)/ nocase
    $launch = /\/(#4ca|#4c#61|L#61|La#75|Lau#6e|Laun#63|Launc#68)/ nocase
  condition:
    $pdf in (0..1024) and any of ($js, $open, $launch)
}
