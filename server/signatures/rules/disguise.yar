/*
  Files that pretend to be something else: double extensions inside archives and mails,
  reversed names, programs behind pictures, files that start themselves from a drive.
*/

rule Disguise_Zip_Reversed_Name
{
  meta:
    description = "An archive with a program whose name is written backwards so that it looks like a document."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1036/002/"
    verdict = "infected"
    family = "disguise"
    threat = "Disguise.Archive.ReversedName"
  strings:
    $local = /PK\x03\x04[\x00-\xff]{26}.{0,201}\xe2\x80\xae.{0,201}\.(exe|scr|pif|com|bat|cmd|js|jse|vbs|vbe|wsf|hta|lnk|msi|ps1|cpl)/s nocase
    $mail = /(file)?name\*?[0-9*]{0,3}=.{0,201}(\xe2\x80\xae|%E2%80%AE|=E2=80=AE).{0,201}(exe|scr|pif|com|bat|cmd|js|jse|vbs|vbe|wsf|hta|lnk|msi|ps1)["']?[ \t]{0,4}(\r|\n|;)/s nocase
  condition:
    any of them
}

rule Disguise_Zip_Double_Extension
{
  meta:
    description = "An archive with a program that is named like a document or picture."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1036/007/"
    verdict = "infected"
    family = "disguise"
    threat = "Disguise.Archive.DoubleExtension"
  strings:
    // name at the local header: 26 bytes of fields after the mark
    $program = /PK\x03\x04[\x00-\xff]{26}[^\x00-\x1f\/]{1,100}\.(pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|mp4|txt|rtf)[ _]{0,80}\.(exe|scr|pif)/ nocase
    $script = /PK\x03\x04[\x00-\xff]{26}[^\x00-\x1f\/]{1,100}\.(pdf|docx?|xlsx?|jpe?g|png)[ _]{0,80}\.(jse|vbs|vbe|wsf|hta|lnk|bat|cmd|cpl)/ nocase
    $padded = /PK\x03\x04[\x00-\xff]{26}[^\x00-\x1f\/]{1,100}\.[a-z]{3,4}[ ]{12,160}\.(exe|scr|pif|com|bat|cmd|js|jse|vbs|vbe|wsf|hta|lnk)/ nocase
  condition:
    uint32be(0) == 0x504b0304 and any of them
}

rule Disguise_Mail_Double_Extension
{
  meta:
    description = "A mail whose attachment is a program that is named like a document or picture."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1036/007/"
    verdict = "infected"
    family = "disguise"
    threat = "Disguise.Mail.DoubleExtension"
  strings:
    $name = /\n(Content-(Type|Disposition):[^\r\n]{1,80}|[ \t]{1,8})(file)?name=["']?[^\r\n"']{1,120}\.(pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|mp4|txt|rtf)[ _]{0,80}\.(exe|scr|pif|bat|cmd|jse|vbs|vbe|wsf|hta|lnk|cpl|ps1)["']?[ \t]{0,4}(\r|\n|;)/ nocase
    $transfer = "Content-Transfer-Encoding:" nocase
  condition:
    filesize < 64MB and $name and $transfer
}

rule Disguise_Program_Behind_Picture
{
  meta:
    description = "A picture file with a complete Windows program hidden behind it."
    severity = "medium"
    reference = "https://attack.mitre.org/techniques/T1027/003/"
    verdict = "suspicious"
    family = "disguise"
    threat = "Disguise.Picture.Program"
  strings:
    $program = { 4D 5A ?? 00 [58-508] 21 54 68 69 73 20 70 72 6F 67 72 61 6D 20 63 61 6E 6E 6F 74 20 62 65 20 72 75 6E 20 69 6E 20 44 4F 53 20 6D 6F 64 65 }
  condition:
    $program and (
      uint32be(0) == 0x47494638 or
      uint32be(0) == 0x89504e47 or
      uint16be(0) == 0xffd8
    )
}

rule Disguise_Autorun_Worm
{
  meta:
    description = "A drive file that starts a hidden program when the drive is opened."
    severity = "high"
    reference = "https://attack.mitre.org/techniques/T1091/"
    verdict = "infected"
    family = "disguise"
    threat = "Worm.Windows.Autorun"
  strings:
    $section = /(^|\n)[ \t]{0,8}\[autorun\]/ nocase
    $start = /\n[ \t]{0,8}(open|shellexecute|shell\\[a-z]{1,20}\\command)[ \t]{0,4}=[ \t]{0,4}[^\r\n]{0,80}(RECYCLE(D|R)|\$Recycle|System Volume Information|wscript|cscript|rundll32|powershell|mshta|\.(vbs|vbe|js|jse|pif|scr|cmd)[ \t\r\n])/ nocase
  condition:
    filesize < 512KB and $section and $start
}

rule Disguise_Desktop_Entry_Download
{
  meta:
    description = "A Linux desktop icon that pretends to be a document but downloads and runs a program."
    severity = "critical"
    reference = "https://attack.mitre.org/techniques/T1204/002/"
    verdict = "infected"
    family = "disguise"
    threat = "Dropper.Linux.DesktopEntry"
  strings:
    $section = "[Desktop Entry]"
    $exec = /\nExec[ \t]{0,2}=[^\r\n]{0,40}(sh|bash)[ \t]{1,4}-c[ \t]{1,4}[^\r\n]{0,400}(curl|wget|base64[ \t]{1,2}-d|xxd[ \t]{1,2}-r)[^\r\n]{0,400}(\|[ \t]{0,2}(ba)?sh|chmod[ \t]{1,4}(\+x|[0-7]{3,4})|eval)/
  condition:
    filesize < 256KB and $section in (0..512) and $exec
}
