/*
  Documents that run commands. Macro rules read macro source text (a module as the unpacker
  or an export gives it) and, for stored documents, the names an Office file keeps unpacked.
*/

rule Macro_AutoRun_Stored
{
  meta:
    description = "A document with a macro that starts by itself when the document is opened."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1137/001/"
    verdict = "suspicious"
    family = "office-macro"
    threat = "Macro.Office.AutoRun"
  strings:
    $vba_wide = "_VBA_PROJECT" wide
    $auto = /\b(Auto_?Open|AutoExec|AutoClose|Document_Open|Document_Close|DocumentOpen|Workbook_Open|Workbook_Activate|Auto_Close|Presentation_Open)\b/ nocase
  condition:
    uint32be(0) == 0xd0cf11e0 and $vba_wide and $auto
}

rule Macro_AutoRun_Stored_Command
{
  meta:
    description = "A document with a macro that starts by itself and runs a hidden system command."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1204/002/"
    verdict = "infected"
    family = "office-macro"
    threat = "Macro.Office.StoredCommand"
  strings:
    $vba_wide = "_VBA_PROJECT" wide
    $auto = /\b(Auto_?Open|AutoExec|AutoClose|Document_Open|Document_Close|DocumentOpen|Workbook_Open|Workbook_Activate|Auto_Close|Presentation_Open)\b/ nocase
    $run1 = /(powershell|pwsh)(\.exe)?[ \t].{0,201}(-e(c|nc|ncodedcommand)?[ \t]|hidden|downloadstring|downloadfile|bypass)/s nocase
    $run2 = /cmd(\.exe)? \/[ckv].{0,201}(powershell|certutil|bitsadmin|mshta|wscript|cscript|rundll32|regsvr32|curl)/s nocase
    $run3 = "URLDownloadToFileA"
    $run4 = /(mshta|regsvr32|rundll32)(\.exe)?[ \t][^\r\n\x00]{0,20}https?:\/\// nocase
    $run5 = /winmgmts:.{0,201}Win32_Process/s nocase
  condition:
    uint32be(0) == 0xd0cf11e0 and $vba_wide and $auto and any of ($run*)
}

rule Macro_AutoRun_Shell
{
  meta:
    description = "A macro that starts by itself and runs a system command."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/005/"
    verdict = "infected"
    family = "office-macro"
    threat = "Macro.Office.AutoRunShell"
  strings:
    $auto = /\bSub (Auto_?Open|AutoExec|AutoClose|Auto_Close|Document_Open|Document_Close|DocumentOpen|Workbook_Open|Workbook_Activate|Presentation_Open|[A-Za-z0-9]{1,24}_(Painted|Layout|MouseHover|GotFocus))[ \t]{0,2}\(/ nocase
    $shell = /[\n=: (][ \t]{0,8}(Shell[ \t(]{1,3}|[A-Za-z0-9_]{1,24}\.(Run|Exec|ShellExecute)[ \t(]{1,3}).{0,201}(powershell|pwsh|cmd(\.exe)?[ \t]{1,4}\/|mshta|rundll32|regsvr32|certutil|bitsadmin|wscript|cscript|\.exe["' ])/s nocase
    $variable = /(^|[\n:])[ \t]{0,8}[A-Za-z0-9_]{1,24}[ \t]{0,2}=[ \t]{0,2}["'].{0,201}(powershell|pwsh|cmd(\.exe)?[ \t]{1,4}\/c|mshta|regsvr32|certutil|bitsadmin).{0,201}(hidden|https?:\/\/|-e(nc|ncodedcommand)?[ \t]|bypass)/s nocase
    $call = /[\n=: (][ \t]{0,8}(Shell[ \t(]{1,3}|[A-Za-z0-9_]{1,24}\.(Run|Exec|ShellExecute)[ \t(]{1,3}|CreateObject\(["'](WScript\.Shell|Shell\.Application)["']\))/ nocase
  condition:
    filesize < 4MB and $auto and ($shell or ($variable and $call))
}

rule Macro_AutoRun_Download
{
  meta:
    description = "A macro that starts by itself and downloads a file from the internet."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1105/"
    verdict = "infected"
    family = "office-macro"
    threat = "Macro.Office.AutoRunDownload"
  strings:
    $auto = /\bSub (Auto_?Open|AutoExec|AutoClose|Auto_Close|Document_Open|Document_Close|DocumentOpen|Workbook_Open|Workbook_Activate|Presentation_Open)[ \t]{0,2}\(/ nocase
    $url = /Declare[ \t][^\r\n]{1,40}URLDownloadToFile(A|W)?\b[^\r\n]{1,40}["']urlmon/ nocase
    $http = /CreateObject\([ \t]{0,2}["'](MSXML2\.(Server)?XMLHTTP|Microsoft\.XMLHTTP|WinHttp\.WinHttpRequest)/ nocase
    $save = /(ADODB\.Stream|\.SaveToFile\b|For[ \t]Binary)/ nocase
    $run = /[\n=: (][ \t]{0,8}(Shell[ \t(]{1,3}|ShellExecute|[A-Za-z0-9_]{1,24}\.(Run|Exec|Open|ShellExecute)[ \t(]{1,3})/ nocase
    $exe = /\.(exe|scr|dll|bat|cmd|vbs|js|hta|ps1|msi)["']/ nocase
  condition:
    filesize < 4MB and $auto and $run and $exe and ($url or ($http and $save))
}

rule Macro_Memory_Inject
{
  meta:
    description = "A macro that writes machine code into memory and starts it."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1055/"
    verdict = "infected"
    family = "office-macro"
    threat = "Macro.Office.MemoryInject"
  strings:
    $alloc = /Declare[ \t].{1,202}(VirtualAlloc(Ex)?|HeapCreate|NtAllocateVirtualMemory)\b/s nocase
    $write = /Declare[ \t].{1,202}(RtlMoveMemory|WriteProcessMemory|RtlCopyMemory|NtWriteVirtualMemory)\b/s nocase
    $start = /Declare[ \t].{1,202}(CreateThread|CreateRemoteThread|EnumSystemLanguageGroups[AW]?|EnumDateFormats[AW]?|CallWindowProc[AW]?|QueueUserAPC|EnumTimeFormats[AW]?)\b/s nocase
    $auto = /\bSub (Auto_?Open|AutoExec|AutoClose|Document_Open|Workbook_Open|Presentation_Open)[ \t]{0,2}\(/ nocase
    $bytes = /Array\([ \t]{0,2}-?[0-9]{1,3},[ \t]{0,2}-?[0-9]{1,3},[ \t]{0,2}-?[0-9]{1,3},[ \t]{0,2}-?[0-9]{1,3},[ \t]{0,2}-?[0-9]{1,3},/ nocase
  condition:
    filesize < 4MB and $alloc and $write and $start and ($auto or $bytes)
}

rule Macro_WMI_Process
{
  meta:
    description = "A macro that starts by itself and runs a program by a detour, to stay unseen."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1047/"
    verdict = "infected"
    family = "office-macro"
    threat = "Macro.Office.WmiProcess"
  strings:
    $auto = /\bSub (Auto_?Open|AutoExec|AutoClose|Auto_Close|Document_Open|Document_Close|DocumentOpen|Workbook_Open|Presentation_Open)[ \t]{0,2}\(/ nocase
    $wmi = /GetObject\([ \t]{0,2}["'](new:(72C24DD5-D70A-438B-8A42-98424B88AFB8|9BA05972-F6A8-11CF-A442-00A0C90A8F39|C08AFD90-F2A1-11D1-8455-00A0C91F3880|13709620-C279-11CE-A49E-444553540000)|winmgmts:)/ nocase
    $create = /(Win32_Process\b|\.(Run|Exec|ShellExecute)[ \t(])/ nocase
    $start = /\.Create[ \t(]|\.(Run|Exec|ShellExecute)[ \t(]/ nocase
  condition:
    filesize < 4MB and all of them
}

rule Macro_Excel4_Exec
{
  meta:
    description = "A spreadsheet with an old-style hidden macro sheet that runs or downloads a program."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1059/"
    verdict = "infected"
    family = "office-macro"
    threat = "Macro.Excel4.Exec"
  strings:
    $sheet = /<(xm:)?macrosheet[ \t\r\n>]/
    $exec = /<f[^>]{0,40}>[^<]{0,80}EXEC\([^<]{0,80}(cmd|powershell|mshta|rundll32|regsvr32|wscript|certutil|wmic|\.exe)/ nocase
    $call = /<f[^>]{0,40}>[^<]{0,80}(CALL|REGISTER)\((&quot;|")(urlmon|kernel32|shell32|wininet)(\.dll)?(&quot;|")/ nocase
    $plain = /=(CALL|REGISTER)\("(urlmon|Shell32)(\.dll)?",[ \t]?"(URLDownloadToFileA|ShellExecuteA)"/ nocase
  condition:
    filesize < 16MB and (($sheet and ($exec or $call)) or ($plain and not uint8(0) == 0x3c))
}

rule Macro_Excel4_Auto_Run
{
  meta:
    description = "A spreadsheet with an old-style macro sheet that runs or downloads a program as soon as it is opened."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1137/"
    verdict = "infected"
    family = "office-macro"
    threat = "Macro.Excel4.AutoRun"
  strings:
    $sheets = "Excel 4 macro sheets\n"
    $auto = /\nAuto_?(Open|Close|Activate|Deactivate)[!-9;-~]{0,32}: =/ nocase
    $exec = "EXEC(" nocase
    $program01 = "cmd" nocase
    $program02 = "powershell" nocase
    $program03 = "pwsh" nocase
    $program04 = "mshta" nocase
    $program05 = "rundll32" nocase
    $program06 = "regsvr32" nocase
    $program07 = "script" nocase
    $program08 = "certutil" nocase
    $program09 = "bitsadmin" nocase
    $program10 = "wmic" nocase
    $program11 = "msiexec" nocase
    $program12 = "curl" nocase
    $program13 = "explorer" nocase
    $program14 = "http:" nocase
    $program15 = "https:" nocase
    $program16 = ".exe" nocase
    $program17 = ".dll" nocase
    $program18 = ".vbs" nocase
    $program19 = ".hta" nocase
    $library = /\b(CALL|REGISTER)\("?(urlmon|kernel32|shell32|wininet|ntdll|advapi32|winmm)(\.dll)?"?,/ nocase
    $download = "URLDownloadToFile" nocase
  condition:
    filesize < 4MB and $sheets at 0 and $auto and (($exec and any of ($program*)) or $library or $download)
}

rule Macro_Excel4_Auto_Call
{
  meta:
    description = "A spreadsheet with an old-style macro sheet that starts a program or calls the system when it is opened."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1137/"
    verdict = "suspicious"
    family = "office-macro"
    threat = "Macro.Excel4.AutoCall"
  strings:
    $sheets = "Excel 4 macro sheets\n"
    $auto = /\nAuto_?(Open|Close|Activate|Deactivate)[!-9;-~]{0,32}: =/ nocase
    $call = /[^A-Za-z.](EXEC|CALL|REGISTER|FOPEN|EXECUTE)\(/
  condition:
    filesize < 4MB and $sheets at 0 and $auto and $call
}

rule Office_DDE_Command
{
  meta:
    description = "A document that starts a system command through an old data link."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1559/002/"
    verdict = "infected"
    family = "office-macro"
    threat = "Exploit.Office.DdeCommand"
  strings:
    $field = /instrText[^>]{0,40}>[^<]{0,8}DDE(AUTO)?[ \t].{0,201}(cmd(\.exe)?|powershell(\.exe)?|mshta(\.exe)?|regsvr32|rundll32|msexcel\\)/s nocase
    $simple = /fldSimple[^>]{1,40}instr=["'][ \t]{0,4}DDE(AUTO)?[ \t].{0,201}(cmd|powershell|mshta|regsvr32|rundll32)/s nocase
    $link = /<ddeLink.{0,201}ddeService=["'](cmd|powershell|mshta|regsvr32|rundll32|msexcel)["']/s nocase
  condition:
    filesize < 16MB and any of them
}

rule Office_CSV_Formula_Command
{
  meta:
    description = "A table file with a cell that starts a system command when it is opened in a spreadsheet."
    severity = "high"
    reference = "https://owasp.org/www-community/attacks/CSV_Injection"
    verdict = "infected"
    family = "office-macro"
    threat = "Exploit.CSV.FormulaCommand"
  strings:
    $cell = /(^|[\n,;\t])"?[=+@-][^\n,;|]{0,24}(cmd|powershell|mshta|rundll32|msexcel)\|["']{1,2} ?(\/c|-[a-z]{1,16}|https?:|\\\.\.)[^\n!]{1,200}["']{1,2}![A-Z_]{1,4}[0-9]{0,3}/ nocase
  condition:
    filesize < 16MB and $cell and not uint8(0) == 0x3c and not uint8(0) == 0x23
}

rule Office_Remote_Template
{
  meta:
    description = "A document that loads its template, which may carry macros, from another computer."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1221/"
    verdict = "suspicious"
    family = "office-macro"
    threat = "Exploit.Office.RemoteTemplate"
  strings:
    $rels = "schemas.openxmlformats.org/package/2006/relationships"
    $template = /relationships\/attachedTemplate["'][^>]{0,200}Target=["']([Hh][Tt][Tt][Pp][Ss]?:\/\/|\\\\|[Ff][Ii][Ll][Ee]:\/\/)[^>]{3,400}TargetMode=["']External/
    // attribute by attribute: a gap over the whole element is searched anew from each Target of a text that has nothing else
    $template_first = /Target=("([Hh][Tt][Tt][Pp]|\\\\|[Ff][Ii][Ll][Ee]:)[^">]{3,400}"|'([Hh][Tt][Tt][Pp]|\\\\|[Ff][Ii][Ll][Ee]:)[^'>]{3,400}')(\s{1,8}\w{2,12}\s{0,4}=\s{0,4}("[^">]{0,100}"|'[^'>]{0,100}')){0,4}\s{1,8}Type\s{0,4}=\s{0,4}["'][^"'>]{0,100}relationships\/attachedTemplate["']/
  condition:
    filesize < 1MB and $rels and any of ($template*)
}

rule Office_Remote_Object
{
  meta:
    description = "A document that loads and runs a page from the internet as soon as it is opened."
    severity = "critical"
    reference = "https://nvd.nist.gov/vuln/detail/CVE-2022-30190"
    verdict = "infected"
    family = "office-macro"
    threat = "Exploit.Office.RemoteObject"
  strings:
    $rels = "schemas.openxmlformats.org/package/2006/relationships"
    // the mark of the relationship is written in one way only, and so is what is searched for first
    $object = /relationships\/oleObject["'][^>]{0,80}Target=["']([Mm][Hh][Tt][Mm][Ll]:)?[Hh][Tt][Tt][Pp][^"']{6,404}(!(["']|x-usc:)|\.[Hh][Tt][Mm][Ll]?!?["'])/
    $target = /Target=["'](mhtml:)?https?:\/\// nocase
    $object_first = /!(x-usc:[^"']{1,300})?["'][^>]{0,80}relationships\/oleObject["']/
    $usc = /Target=["']mhtml:https?:\/\/.{3,300}!x-usc:https?:\/\//s nocase
  condition:
    filesize < 1MB and $rels and $target and any of ($object*, $usc)
}

rule Office_Support_Tool_Link
{
  meta:
    description = "A page that misuses the Windows support tool to run commands (known as Follina)."
    severity = "critical"
    reference = "https://nvd.nist.gov/vuln/detail/CVE-2022-30190"
    verdict = "infected"
    family = "office-macro"
    threat = "Exploit.Windows.Follina"
  strings:
    $link = /(location(\.href)?[ \t]{0,2}=|<iframe|href=|open\()[^\n]{0,40}ms-msdt:[^\n]{0,60}PCWDiagnostic/ nocase
    $param = /IT_(BrowseForFile|RebrowseForFile|LaunchMethod|SelectProgram)=/ nocase
    $payload = /(\$\(|Invoke-Expression|FromBase64String|\.\.\/\.\.\/)/ nocase
  condition:
    filesize < 1MB and all of them
}
